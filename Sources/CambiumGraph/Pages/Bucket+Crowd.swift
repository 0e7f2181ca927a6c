/// What the first page of a bucket knows of all of its entries, once there are more than the page holds.
extension Bucket {
    private static let overflowPageCountOffset = 24
    private static let crowdFragmentOffset = 28
    private static let otherCountOffset = 30
    /// A bucket with as many entries that are not of its crowd is split.
    static let otherCountMax = capacity / 2

    /// The overflow pages of the bucket.
    var overflowPageCount: Int {
        get { Int(page.load(fromByteOffset: Self.overflowPageCountOffset, as: UInt32.self)) }
        nonmutating set { page.storeBytes(of: UInt32(newValue), toByteOffset: Self.overflowPageCountOffset, as: UInt32.self) }
    }

    /// The fragment that most entries have.
    private(set) var crowdFragment: UInt16 {
        get { page.load(fromByteOffset: Self.crowdFragmentOffset, as: UInt16.self) }
        nonmutating set { page.storeBytes(of: newValue, toByteOffset: Self.crowdFragmentOffset, as: UInt16.self) }
    }

    /// The entries with other fragments. In a bucket of the greatest depth, which is not split, it may stop at 65,535.
    var otherCount: Int {
        get { Int(page.load(fromByteOffset: Self.otherCountOffset, as: UInt16.self)) }
        nonmutating set {
            page.storeBytes(of: UInt16(clamping: newValue), toByteOffset: Self.otherCountOffset, as: UInt16.self)
        }
    }

    /// Sets the crowd of a bucket that gets its first overflow page.
    func noteCrowd() { (crowdFragment, otherCount) = crowd() }

    /// The fragment that more than half of the entries of this page have, if there is one, and the number of others.
    ///
    /// Source: R. S. Boyer and J S. Moore, MJRTY: different ones take each other out, and what more than half have is left over.
    func crowd() -> (fragment: UInt16, otherCount: Int) {
        var (candidate, surplus) = (UInt16(0), 0)
        forEach { fragment, _ in
            if surplus == 0 { candidate = fragment }
            surplus += fragment == candidate ? 1 : -1
        }
        var otherCount = 0
        forEach { fragment, _ in if fragment != candidate { otherCount += 1 } }
        return (candidate, otherCount)
    }
}

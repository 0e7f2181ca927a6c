/// Statistics of a bucket, which consists of a page of a hash index and its overflow pages. The first page stores the statistics as soon as
/// the bucket has overflow pages.
///
/// The *crowd* of a bucket consists of the entries with the most frequent fragment. A fragment is the part of a hash that an entry stores.
extension Bucket {
    private static let overflowPageCountOffset = 24
    private static let crowdFragmentOffset = 28
    private static let otherCountOffset = 30
    /// A full bucket is split if at least this many of its entries do not have the most frequent fragment.
    static let otherCountMax = capacity / 2

    /// The number of overflow pages of the bucket.
    var overflowPageCount: Int {
        get { Int(page.load(fromByteOffset: Self.overflowPageCountOffset, as: UInt32.self)) }
        nonmutating set { page.storeBytes(of: UInt32(newValue), toByteOffset: Self.overflowPageCountOffset, as: UInt32.self) }
    }

    /// The most frequent fragment in the bucket. A fragment is the part of a hash that an entry stores.
    private(set) var crowdFragment: UInt16 {
        get { page.load(fromByteOffset: Self.crowdFragmentOffset, as: UInt16.self) }
        nonmutating set { page.storeBytes(of: newValue, toByteOffset: Self.crowdFragmentOffset, as: UInt16.self) }
    }

    /// The number of entries that do not have the most frequent fragment. A bucket of the greatest depth is never split, so it may have
    /// more than the 65,535 entries that the field can count. In such a bucket, the number is not exact, and no code relies on it.
    var otherCount: Int {
        get { Int(page.load(fromByteOffset: Self.otherCountOffset, as: UInt16.self)) }
        nonmutating set {
            page.storeBytes(of: UInt16(clamping: newValue), toByteOffset: Self.otherCountOffset, as: UInt16.self)
        }
    }

    /// Begins the statistics when the bucket gets its first overflow page: determines the most frequent fragment (the stored part of a
    /// hash). Until then, the page does not contain valid statistics.
    func noteCrowd() {
        (crowdFragment, otherCount) = crowd()
        overflowPageCount = 0
    }

    /// Returns the fragment that more than half of this page's entries have, and the number of all other entries. If no fragment is that
    /// frequent, the method chooses an arbitrary fragment of the page.
    ///
    /// Source: R. S. Boyer and J S. Moore, MJRTY: different fragments cancel each other out, and a majority remains.
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

/// Versions that may yet be taken back: the last one that stays, which is kept, and the pages of those after it.
struct TentativeVersions {
    /// The version that stays; nil where none may be taken back.
    private(set) var base: Version?
    /// Those after it, oldest first, and how many pages each has made.
    private var versions: [(epoch: UInt64, pageCount: Int)] = []
    private var pages: [PageRef] = []

    /// More than this many pages are not kept room for when they are confirmed.
    private static let spareCountMax = 16_384

    /// Adds a version that is newer than all others, and what it has made.
    mutating func append(epoch: UInt64, _ born: PageList, after previous: Version) {
        if base == nil { base = previous }
        versions.append((epoch, born.count))
        pages.append(contentsOf: born.elements)
    }

    /// The version and those before it stay.
    mutating func confirm(_ version: Version) {
        guard let base, version.epoch > base.epoch else { return }
        let count = versions.prefix { $0.epoch <= version.epoch }.count
        if count == versions.count {
            removeAll()
        } else {
            pages.removeFirst(versions[..<count].reduce(0) { $0 + $1.pageCount })
            versions.removeFirst(count)
            self.base = version
        }
    }

    /// Forgets the versions after this one, of which it calls `body` with the pages; with those of all where none of them is the
    /// version. Returns which version is the newest one then; nil where none may be taken back.
    mutating func takeBack(to version: Version?, _ body: (_ page: PageRef, _ epoch: UInt64) -> Void) -> Version? {
        guard let base else { return nil }
        let staying = version.flatMap { $0.epoch > base.epoch ? $0 : nil }
        while let last = versions.last, last.epoch > (staying ?? base).epoch {
            for page in pages.suffix(last.pageCount) { body(page, last.epoch) }
            pages.removeLast(last.pageCount)
            versions.removeLast()
        }
        if staying == nil { removeAll() }
        return staying ?? base
    }

    private mutating func removeAll() {
        base = nil
        versions.removeAll(keepingCapacity: versions.count <= Self.spareCountMax)
        pages.removeAll(keepingCapacity: pages.count <= Self.spareCountMax)
    }
}

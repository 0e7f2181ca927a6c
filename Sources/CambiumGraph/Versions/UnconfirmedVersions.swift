/// The versions that may still be rolled back, with the pages that each of them created, and the last confirmed version.
struct UnconfirmedVersions {
    /// The last confirmed version, to which a rollback returns; `nil` if there is no unconfirmed version.
    private(set) var base: Version?
    /// The versions after `base`, oldest first. `pageCount` is the number of pages in `pages` that a version created.
    private var versions: [(epoch: UInt64, pageCount: Int)] = []
    private var pages: [PageRef] = []

    /// Emptying the arrays keeps the memory of at most this many elements.
    private static let spareCountMax = 16_384

    /// Adds a version that is newer than all other versions, and the pages that it created.
    mutating func append(epoch: UInt64, _ born: PageList, after previous: Version) {
        if base == nil { base = previous }
        versions.append((epoch, born.count))
        pages.append(contentsOf: born.elements)
    }

    /// Confirms a version and all versions before it.
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

    /// Removes the versions after `version`, and calls `body` with each page that they created. If `version` is `nil` or confirmed, removes
    /// all unconfirmed versions. Returns the newest version that is left, or `nil` if there was no unconfirmed version.
    mutating func rollBack(to version: Version?, _ body: (_ page: PageRef, _ epoch: UInt64) -> Void) -> Version? {
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

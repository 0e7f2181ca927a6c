/// The overflow pages of one bucket of a hash index, and the page in which each of their entries lies. Without `CrowdPlaces`, finding a row
/// takes a walk through the pages, so removing rows in any order would take O(rows x pages).
///
/// A recorded page is only a hint that saves the walk. The caller checks that the page contains the row. Pages that are no longer part of
/// the bucket are forgotten.
struct CrowdPlaces {
    /// A walk through more overflow pages than this number counts as long.
    static let shortWalk = 8
    /// The pages of the entries are recorded once long walks have read each overflow page about this many times. Recording the pages then
    /// takes less time than these walks took.
    static let walkCountMin = 32

    private var walkedPageCount = 0
    private var chain: Set<PageRef> = []
    private var pages: [UInt32: PageRef] = [:]

    /// Whether the pages of the entries have been recorded.
    var isCollected: Bool { !chain.isEmpty }

    /// Counts the pages of a long walk. Returns whether the caller should now record the pages of all entries with `collect`.
    mutating func trackWalk(_ pageCount: Int, of overflowPageCount: Int) -> Bool {
        walkedPageCount += pageCount
        return !isCollected && walkedPageCount >= Self.walkCountMin * overflowPageCount
    }

    /// Adds an overflow page that the draft owns, with its entries.
    mutating func collect(_ page: PageRef, _ bucket: Bucket) {
        chain.insert(page)
        bucket.forEach { _, row in pages[row] = page }
    }

    /// Returns the overflow page that probably contains a row, or `nil` if the page is not known.
    func page(of row: UInt32) -> PageRef? { pages[row].flatMap { chain.contains($0) ? $0 : nil } }

    /// Records the overflow page to which the entry of a row was added or moved. `page` is `nil` if the entry is in the first page of the
    /// bucket, which is not an overflow page.
    mutating func track(_ row: UInt32, at page: PageRef?) {
        if !isCollected { return }
        pages[row] = page
        if let page { chain.insert(page) }
    }

    /// Forgets a page that is no longer part of the bucket.
    mutating func forget(_ page: PageRef) { chain.remove(page) }
}

/// A list of page references. Emptying the list keeps its memory, so that a later draft can use the same list.
struct PageList {
    private var pages: [PageRef] = []
    private(set) var count = 0

    /// The number of references for which the list has memory.
    var capacity: Int { pages.count }

    var elements: ArraySlice<PageRef> { pages[..<count] }

    @inline(__always) mutating func append(_ page: PageRef) {
        if count < pages.count { pages[count] = page } else { pages.append(page) }
        count &+= 1
    }

    mutating func removeAll() { count = 0 }
}

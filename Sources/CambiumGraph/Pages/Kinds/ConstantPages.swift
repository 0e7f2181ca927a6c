import Glibc

/// The constant pages: leaves without content, to which many groups of rows refer. A leaf is a page with the values of one column. All
/// values in a constant page are null, no row, or zero.
struct ConstantPages {
    private(set) var null1: PageRef = 0
    private(set) var null2: PageRef = 0
    private(set) var null4: PageRef = 0
    private(set) var null8: PageRef = 0
    private(set) var null16: PageRef = 0
    private(set) var nullString: PageRef = 0
    private(set) var noRows: PageRef = 0
    private(set) var zeroes: PageRef = 0

    init() {}

    /// The constant pages of every page space. Their references are the same in all spaces, because they are the first pages of each space.
    static let stored = PageSpace().constants

    init(in space: PageSpace) {
        func page(_ byteCount: Int, _ kind: PageKind, fill: UInt8) -> PageRef {
            let page = space.allocate(granules: PageLayout.granules(byteCount), kind: kind, birth: 0)
            memset(space.chunks[page] + PageLayout.header, Int32(fill), byteCount - PageLayout.header)
            return page
        }
        null1 = page(FixedLeaf.byteCount(width: 1), .fixedLeaf, fill: 0)
        null2 = page(FixedLeaf.byteCount(width: 2), .fixedLeaf, fill: 0)
        null4 = page(FixedLeaf.byteCount(width: 4), .fixedLeaf, fill: 0)
        null8 = page(FixedLeaf.byteCount(width: 8), .fixedLeaf, fill: 0)
        null16 = page(FixedLeaf.byteCount(width: 16), .fixedLeaf, fill: 0)
        nullString = page(StringLeaf.heapOffset, .stringLeaf, fill: 0)
        noRows = page(LinkLeaf.byteCount, .linkLeaf, fill: 0xFF)
        zeroes = page(LinkLeaf.byteCount, .linkLeaf, fill: 0)
    }

    func null(width: Int) -> PageRef {
        switch width {
        case 1: null1
        case 2: null2
        case 4: null4
        case 8: null8
        default: null16
        }
    }

    var all: [PageRef] { [null1, null2, null4, null8, null16, nullString, noRows, zeroes] }
}

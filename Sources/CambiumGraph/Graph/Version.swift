/// One published state of the graph. Only whole versions are retained and released.
///
/// SENDABLE: only the writer touches `dead`, through its `Timeline`; the rest does not change.
final class Version: @unchecked Sendable {
    /// The epoch of the draft that became this version. Pages with a later birth do not belong to it.
    let epoch: UInt64
    let directory: PageRef
    let layout: GraphLayout
    let space: PageSpace
    /// Whether objects may share unique values, because this is a transaction under way, whose end checks them.
    let mayHaveDuplicates: Bool
    /// The pages that a later version superseded, and that this version or an older version may still reach.
    @exclusivity(unchecked) var dead = PageList()

    init(epoch: UInt64, directory: PageRef, layout: GraphLayout, space: PageSpace, mayHaveDuplicates: Bool = false) {
        self.epoch = epoch
        self.directory = directory
        self.layout = layout
        self.space = space
        self.mayHaveDuplicates = mayHaveDuplicates
    }

    var reader: Reader { Reader(chunks: space.chunks, directory: directory) }
}

/// One published state of the graph: the only thing that is retained and released.
///
/// SENDABLE: `dead` is touched by the writer only, through its `Timeline`; the rest does not change.
final class Version: @unchecked Sendable {
    /// The epoch of the draft that became this version; pages with a later birth are not its own.
    let epoch: UInt64
    let directory: PageRef
    let layout: GraphLayout
    let space: PageSpace
    /// Pages that a later version superseded and this one, or an older one, may still reach.
    @exclusivity(unchecked) var dead = PageList()

    init(epoch: UInt64, directory: PageRef, layout: GraphLayout, space: PageSpace) {
        self.epoch = epoch
        self.directory = directory
        self.layout = layout
        self.space = space
    }

    var reader: Reader { Reader(chunks: space.chunks, directory: directory) }
}

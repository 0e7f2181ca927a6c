/// One published state of the graph. A version is kept or released as a whole.
///
/// SENDABLE: nothing changes after the version was created, except `dead`, which only the writer touches, through its `Timeline`.
final class Version: @unchecked Sendable {
    /// The epoch of the draft that became this version. Pages with a later birth do not belong to this version.
    let epoch: UInt64
    let directory: PageRef
    let layout: GraphLayout
    let space: PageSpace
    /// Whether several objects can have the same unique value, because this version belongs to a transaction in progress. Unique values are
    /// checked at the end of the transaction.
    let mayHaveDuplicates: Bool
    /// The pages that later versions replaced, and that are still part of this version or of an older version.
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

extension Graph {
    /// A hash of everything that determines the meaning of the graph's pages.
    package var fingerprint: UInt64 { layout.fingerprint }
    /// The numbers from which the hashes in indexes are computed. They are the same in all graphs of an open store.
    package var hashNumbers: OwnedHashNumbers {
        guard let numbers = version.space.hashNumbers else { preconditionFailure("A space with a graph has numbers for hashes.") }
        return numbers
    }
}

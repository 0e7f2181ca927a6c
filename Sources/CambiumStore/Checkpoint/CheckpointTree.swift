internal import CambiumLog
import CambiumModel
internal import CambiumProofs

/// The Merkle tree over the transactions up to a checkpoint. The next checkpoint continues the tree.
struct CheckpointTree {
    /// The Merkle tree; `nil` if the log could not be read, or if the tree in HEAD contradicts the log or the tree of the last checkpoint.
    /// `Store.verify` reports the flaw. A checkpoint without a tree is otherwise sound.
    private(set) var tree: MerkleTree? = MerkleTree()
    /// The position after the last transaction in the tree; `nil` for the beginning of the log, or if there is no tree.
    private(set) var end: LogPrefix?

    /// - Parameter root: the checkpoint from which the store was opened. If that checkpoint has no tree, the log is read from its first
    ///   transaction.
    init(_ root: CheckpointRecord?) {
        guard let root, let tree = root.tree else { return }
        (self.tree, end) = (tree, LogPrefix(root))
    }

    /// Appends the transactions up to a position to the tree. The transactions must already be durable. Writers continue at the same time.
    /// Throws if a disk operation fails.
    ///
    /// Complexity: O(bytes of the log since the last checkpoint with a tree).
    mutating func advance(to position: LogPrefix, in volume: any Volume) throws {
        guard let tree else { return }
        var known = LogTree(tree)
        do {
            try known.append(LogReader(volume), after: end, upTo: position.transaction)
            (self.tree, end) = (known.tree, position)
        } catch let error as CambiumError where [.corrupted, .notFound, .unsupportedFormat].contains(error.code) {
            // A corrupt log stays corrupt, and each further attempt would read the whole log again. So this checkpoint and all later ones
            // have no tree. `end` is reset together with the tree. Otherwise, closing the store would append the transactions after `end`
            // to an empty tree.
            (self.tree, end) = (nil, nil)
        }
    }
}

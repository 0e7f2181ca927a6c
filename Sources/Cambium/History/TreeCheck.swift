internal import CambiumLog
import CambiumModel

/// Compares the trees that checkpoints have with the tree over the log.
///
/// Checksums show that a transaction is as somebody wrote it. A transaction of another history in its place, under checksums that fit, has
/// another leaf, so that all trees behind it are others.
struct TreeCheck {
    private(set) var tree = LogTree()
    /// The trees of the checkpoints that were not reached yet.
    private var expected: [TransactionNumber: MerkleTree] = [:]
    /// The last checkpoint that has the tree over the log.
    private var matched = TransactionNumber.none
    /// What is wrong; nil if nothing is.
    private(set) var finding: String?

    /// Complexity: O(checkpoints).
    init(_ reader: LogReader) throws {
        for number in try RootRecord.list(reader.volume) {
            do throws(CambiumError) {
                expected[number] = try PageFile.tree(reader.volume, store: reader.settings.store, number)
            } catch {
                // Who writes has dropped it since.
                guard error.code == .notFound else { throw error }
            }
        }
    }

    /// Appends the next transaction of the log.
    mutating func append(_ record: LogRecord) throws {
        try tree.append(record)
        guard let expected = expected.removeValue(forKey: record.number), finding == nil else { return }
        if expected == tree.tree {
            matched = record.number
            return
        }
        finding =
            "a transaction from \(matched.next) to \(record.number) is not the one that the checkpoint of transaction \(record.number) was "
            + "made of: the tree over the log is another one"
    }
}

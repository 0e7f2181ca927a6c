internal import CambiumLog
import CambiumModel

/// Compares the trees that checkpoints and HEAD have with the tree over the log.
///
/// Checksums show that a transaction is as somebody wrote it. A transaction of another history in its place, under checksums that fit, has
/// another leaf, so that all trees behind it are others.
struct TreeCheck {
    private(set) var tree = LogTree()
    /// The trees of the checkpoints that were not reached yet.
    private var expected: [TransactionNumber: MerkleTree] = [:]
    private let head: Head.Tree?
    /// The last checkpoint that has the tree over the log.
    private var matched = TransactionNumber.none
    /// What is wrong; nil if nothing is.
    private(set) var finding: String?

    /// Complexity: O(checkpoints).
    init(_ reader: LogReader) throws {
        head = reader.headTree
        for number in try RootRecord.list(reader.volume) {
            do throws(CambiumError) {
                expected[number] = try PageFile.tree(reader.volume, store: reader.settings.store, number)
            } catch {
                // A writer has dropped it since.
                guard error.code == .notFound else { throw error }
            }
        }
    }

    /// Appends the next transaction of the log.
    mutating func append(_ record: LogRecord) throws {
        try tree.append(record)
        if let expected = expected.removeValue(forKey: record.number) {
            note(record.number, isSame: expected == tree.tree, "the checkpoint of transaction \(record.number) was made of")
        }
        if let head, head.transaction == record.number { note(record.number, isSame: head.root == tree.root, "HEAD was written for") }
    }

    private mutating func note(_ number: TransactionNumber, isSame: Bool, _ what: String) {
        if finding != nil { return }
        if isSame {
            matched = number
            return
        }
        let range = matched < number ? "from \(matched.next) to \(number)" : "up to \(number)"
        finding = "a transaction \(range) is not the one that \(what): the tree over the log is another one"
    }
}

internal import CambiumLog
import CambiumModel
internal import CambiumProofs

/// Compares the Merkle trees that checkpoints and HEAD contain with the tree over the transactions of the log. Also records the times of
/// the transactions that have a checkpoint.
///
/// A checksum only shows that a transaction did not change after it was written. If a transaction from another history replaces a
/// transaction of the log, the checksums may match. But the hash of the new transaction differs, so all later roots of the tree differ,
/// too.
struct TreeCheck {
    private(set) var tree = LogTree()
    /// The trees of the checkpoints whose transactions were not appended to `tree` yet.
    private var expected: [TransactionNumber: MerkleTree] = [:]
    /// The transactions that had a checkpoint when the check began, and were not appended to `tree` yet, in ascending order.
    private var stored: ArraySlice<TransactionNumber>
    /// The times of the transactions with a checkpoint that were appended to `tree`.
    private(set) var times: [TransactionNumber: Timestamp] = [:]
    private let head: Head.Tree?
    /// The last transaction at which the tree of a checkpoint or of the file HEAD equals the tree over the log.
    private var matched = TransactionNumber.none
    /// The first difference between a stored tree and the tree over the log; `nil` if there is no difference.
    private(set) var finding: String?
    /// The transactions among which the first replaced one is; `nil` if there is no difference.
    private(set) var differing: ClosedRange<TransactionNumber>?

    /// The tree with which the caller compares the log; `nil` if there is none.
    private let known: TreeHead?
    /// A root that the log had at some time, if it is the same log; `nil` if the caller gave none.
    private let knownRoot: TreeHash?
    /// The first transaction after which the log had `knownRoot`.
    private(set) var knownRootMoment: TransactionNumber?

    /// Reads the trees of all checkpoints. Complexity: O(checkpoints).
    ///
    /// - Parameters:
    ///   - known: a tree with which the log is compared, too.
    ///   - knownRoot: the root of such a tree whose size is unknown. Each transaction then takes O(log n) more.
    init(_ reader: LogReader, known: TreeHead?, knownRoot: TreeHash?) throws {
        (self.known, self.knownRoot) = (known, knownRoot)
        head = reader.headTree
        let listed = try CheckpointRecord.list(reader.volume)
        stored = listed.sorted()[...]
        for number in listed {
            do throws(CambiumError) {
                expected[number] = try PageFile.tree(reader.volume, store: reader.settings.store, number)
            } catch {
                // `.notFound` means that a writer has dropped the checkpoint after it was listed.
                guard error.code == .notFound else { throw error }
            }
        }
    }

    /// Appends the next transaction of the log.
    ///
    /// - Parameter leafHash: the `leafHash` of the record.
    mutating func append(_ record: LogRecord, _ leafHash: TreeHash) {
        tree.append(leafHash: leafHash)
        if record.number == stored.first {
            stored.removeFirst()
            times[record.number] = record.metadata.time
            if let expected = expected.removeValue(forKey: record.number) {
                report(record.number, isSame: expected == tree.tree, "the checkpoint of transaction \(record.number)", expected)
            }
        }
        if let known, known.size == record.number.rawValue {
            report(record.number, isSame: known.root.bytes == tree.root, "the given checkpoint")
        }
        if let knownRoot, knownRootMoment == nil, knownRoot.bytes == tree.root { knownRootMoment = record.number }
        if let head, head.transaction == record.number { report(record.number, isSame: head.root == tree.root, "the file HEAD") }
    }

    /// - Parameter stored: the stored tree with its subtrees; `nil` if only its root is known.
    private mutating func report(_ number: TransactionNumber, isSame: Bool, _ source: String, _ stored: MerkleTree? = nil) {
        if finding != nil { return }
        if isSame {
            matched = number
            return
        }
        let first = matched < number ? matched.next : TransactionNumber(rawValue: 1)
        differing = stored.flatMap { differingSubtree($0)?.clamped(to: first...number) } ?? first...number
        let range = matched < number ? "one of the transactions \(matched.next) to \(number)" : "a transaction up to \(number)"
        finding = "the hash tree of the log differs from that of \(source), so \(range) has changed"
    }

    /// Returns the transactions of the first complete subtree that differs between the tree over the log and a stored tree of its size.
    private func differingSubtree(_ stored: MerkleTree) -> ClosedRange<TransactionNumber>? {
        let own = tree.tree
        guard own.leafCount == stored.leafCount else { return nil }
        var before: UInt64 = 0
        for (left, right) in zip(own.subtrees, stored.subtrees) {
            let count = UInt64(1) << UInt64(63 - (own.leafCount - before).leadingZeroBitCount)
            if left != right { return TransactionNumber(rawValue: before + 1)...TransactionNumber(rawValue: before + count) }
            before += count
        }
        return nil
    }
}

package import CambiumModel
package import CambiumProofs

/// A Merkle tree over a log, which is built transaction by transaction.
package struct LogTree: Sendable, Equatable {
    /// The Merkle tree. Its leaves are the transactions of the log, beginning with the first one.
    package private(set) var tree: MerkleTree

    /// - Parameter tree: the tree over all transactions that precede the first transaction to append.
    package init(_ tree: MerkleTree = MerkleTree()) { self.tree = tree }

    /// Appends the leaf of a transaction. Throws as `LogRecord.leafHash` does.
    package mutating func append(_ record: LogRecord) throws { append(leafHash: try record.leafHash()) }

    /// Appends the leaf of a transaction.
    ///
    /// - Parameter leafHash: the `leafHash` of the transaction's record.
    package mutating func append(leafHash: TreeHash) { tree.append(leafHash: leafHash) }

    /// The last transaction in the tree.
    package var transaction: TransactionNumber { TransactionNumber(rawValue: tree.leafCount) }

    /// The root of the tree, 32 bytes.
    package var root: [UInt8] { tree.root.bytes }

    /// Throws `.corrupted` if the tree in HEAD ends with the same transaction as this tree, but has another root. In that case, a
    /// transaction was replaced after HEAD was written.
    private func compare(with head: Head.Tree?) throws(CambiumError) {
        guard let head, head.transaction == transaction, head.root != root else { return }
        throw CambiumError(.corrupted, "One of the transactions 1 to \(transaction) has changed. Run 'cambium verify'.")
    }

    /// Appends the transactions of a log up to `last`. The caller ensures that `last` is durable. Other threads or processes may append to
    /// the log at the same time.
    ///
    /// Throws `.corrupted` or `.notFound` if the log cannot be verified up to `last`. Throws `.corrupted` if the tree, before or after one
    /// of the transactions, contradicts the tree in HEAD. Throws `.limitExceeded` if the transactions take more than `byteCountMax` bytes.
    /// In these cases, nothing was appended. Complexity: O(bytes that are read), in bounded memory.
    ///
    /// - Parameters:
    ///   - base: a position in the log at or before the last transaction in the tree; `nil` for the beginning.
    ///   - byteCountMax: the maximum number of bytes of log that the transactions may take.
    package mutating func append(
        _ log: LogReader, after base: LogPrefix?, upTo last: TransactionNumber, byteCountMax: Int = .max
    ) throws {
        struct Reached: Error {}
        try compare(with: log.headTree)
        if transaction >= last { return }
        var tree = self
        var cursor = try LogCursor(log, from: transaction.next, after: base, mayBeWritten: true, syncs: false)
        var byteCount = 0
        do {
            try cursor.advance { record in
                byteCount += record.byteCount
                guard byteCount <= byteCountMax else { throw CambiumError(.limitExceeded, "The log has more than \(byteCountMax) bytes.") }
                try tree.append(record)
                try tree.compare(with: log.headTree)
                if record.number == last { throw Reached() }
            }
        } catch is Reached {
            self = tree
            return
        }
        throw cursor.damage(LogDirectory.name, 0, "The log ends before transaction \(last), which was durable.")
    }
}

internal import CambiumBytes
internal import CambiumJSON
package import CambiumLog
public import CambiumModel
public import CambiumProofs

extension Store {
    /// Makes a proof that a transaction is in the log, which others check without the store: with `ProvedTransaction`, with the command
    /// `check-proof`, or with `Docs/Formats/verify.py`.
    ///
    /// ```swift
    /// let proof = try Store.prove(TransactionNumber(rawValue: 1), at: "notes")
    /// print(try ProvedTransaction(proof, trusting: .root(try TreeHead(parsing: proof.checkpoint).root)).number)
    /// ```
    ///
    /// Throws `.notFound` if the log or the tree of the note does not have the transaction. Throws `.notProved` if the note is not of this
    /// log. Also throws the errors of reading the log. Complexity: O(bytes of the log since the last full tile of its tree, and up to the
    /// transaction from the checkpoint or segment before it).
    ///
    /// - Parameters:
    ///   - transaction: the transaction.
    ///   - path: the directory of the store.
    ///   - note: a signed checkpoint of this log, as `sign` returns it, possibly with cosignatures. If it is `nil`, the proof has an
    ///     unsigned checkpoint of the newest tree: a reader compares its root with a known one.
    public static func prove(_ transaction: TransactionNumber, at path: String, in note: SignedNote? = nil) throws -> ProofFile {
        try prove(transaction, SystemVolume(root: path), in: note)
    }

    package static func prove(_ transaction: TransactionNumber, _ volume: any Volume, in note: SignedNote? = nil) throws -> ProofFile {
        try LogReader.rereading(volume) { try prove(transaction, $0, in: note) }
    }

    private static func prove(_ transaction: TransactionNumber, _ reader: LogReader, in note: SignedNote?) throws -> ProofFile {
        var (log, checkpoint) = try tree(reader, note)
        guard transaction.rawValue >= 1, transaction.rawValue <= log.size else {
            let remedy = note == nil ? "Name one of them." : "Name one of them, or sign the newest tree and use its note."
            throw CambiumError(.notFound, "The tree has the transactions 1 to \(log.size), not \(transaction). \(remedy)")
        }
        let record = try record(transaction, reader)
        let proof = try log.inclusion(of: transaction.rawValue - 1)
        let commitment = try record.commitment()
        guard proof.root(of: .leaf(record.envelope + commitment)) == log.root else {
            throw CambiumError(.corrupted, "Transaction \(transaction) differs from the tree over the log. Run 'cambium verify'.")
        }
        return ProofFile(
            extra: ProofOpening(LeafOpening(envelope: record.envelope, commitment: commitment)).bytes, index: proof.index, path: proof.path,
            checkpoint: checkpoint)
    }

    /// Makes a proof that the log only grew after it had a number of transactions. A witness checks it before it cosigns.
    ///
    /// ```swift
    /// print(try Store.proveConsistency(since: 1, at: "notes").oldSize)
    /// ```
    ///
    /// Throws `.notFound` if the tree has fewer transactions, `.notProved` if the note is not of this log, and the errors of reading the
    /// log. Complexity: O(bytes of the log since the last full tile of its tree).
    ///
    /// - Parameters:
    ///   - oldSize: the number of transactions of the earlier tree.
    ///   - path: the directory of the store.
    ///   - note: a signed checkpoint of this log; `nil` for an unsigned one of the newest tree.
    public static func proveConsistency(since oldSize: UInt64, at path: String, in note: SignedNote? = nil) throws -> ConsistencyFile {
        try proveConsistency(since: oldSize, SystemVolume(root: path), in: note)
    }

    package static func proveConsistency(
        since oldSize: UInt64, _ volume: any Volume, in note: SignedNote? = nil
    ) throws -> ConsistencyFile {
        var (log, checkpoint) = try LogReader.rereading(volume) { try tree($0, note) }
        guard oldSize <= log.size else {
            throw CambiumError(.notFound, "The tree has \(log.size) transactions, not \(oldSize). Get a newer checkpoint.")
        }
        let proof = try log.consistency(from: oldSize)
        return ConsistencyFile(oldSize: oldSize, path: proof.path, checkpoint: checkpoint)
    }

    /// Returns the tree of a note, or the newest one, and its checkpoint as text.
    static func tree(
        _ reader: LogReader, _ note: SignedNote?, commitments: [TransactionNumber: [UInt8]] = [:]
    ) throws -> (TiledLog, checkpoint: String) {
        let head = try note.map { note throws(CambiumError) in try TreeHead(note) }
        let log = try TiledLog(reader, TileFiles(reader.volume, .cache), size: head?.size, commitments: commitments)
        if let head, let note {
            guard head.root == log.root else {
                throw CambiumError(
                    .notProved, "The note has another root than the log at transaction \(head.size). Check whether it is of this store.")
            }
            return (log, note.description)
        }
        let origin = "cambium/" + HexText.encode(reader.settings.store)
        return (log, try TreeHead(origin: origin, size: log.size, root: log.root).text)
    }

    static func record(_ number: TransactionNumber, _ reader: LogReader) throws -> LogRecord {
        if let record = try reader.record(number) { return record }
        throw CambiumError(.notFound, "The log ends before transaction \(number).")
    }

    /// The files that `writeTiles` has written.
    public struct TileReport: Sendable {
        /// The number of transactions in the tree.
        public let size: UInt64
        /// The root of the tree.
        public let root: TreeHash
        /// The number of files that were written; files that had their content already do not count.
        public let fileCount: Int
        /// Whether the folder has a signed checkpoint of this tree.
        public let isSigned: Bool
    }

    /// Writes the log as static files that any web server can offer: entries, hashes and the signed checkpoint, as C2SP tlog-tiles states.
    /// A later call writes only what is new.
    ///
    /// ```swift
    /// print(try Store.writeTiles(of: "notes", to: "public").fileCount)
    /// ```
    ///
    /// Throws `.conflict` if the folder has the tiles of another log, or the checkpoint of a later tree than the note, because a published
    /// log must not shrink. Throws `.notProved` if the note is not of this log. Also throws the errors of reading the log and of writing
    /// files. Complexity: O(bytes of the log since the last full tile).
    ///
    /// - Parameters:
    ///   - path: the directory of the store.
    ///   - folder: the folder for the files. It is created if it does not exist.
    ///   - note: a signed checkpoint of this log. If it is `nil`, the tiles have the newest tree and the folder gets no checkpoint.
    public static func writeTiles(of path: String, to folder: String, in note: SignedNote? = nil) throws -> TileReport {
        let target = SystemVolume(root: folder)
        try target.createDirectory("")
        return try writeTiles(of: SystemVolume(root: path), to: target, in: note)
    }

    package static func writeTiles(of volume: any Volume, to target: any Volume, in note: SignedNote? = nil) throws -> TileReport {
        try LogReader.rereading(volume) { try writeTiles(of: $0, to: target, in: note) }
    }

    private static func writeTiles(of reader: LogReader, to target: any Volume, in note: SignedNote?) throws -> TileReport {
        var (known, checkpoint) = try tree(reader, note)
        let files = TileFiles(target, .published)
        if let head = try files.checkpointHead() {
            guard head.size <= known.size else {
                throw CambiumError(
                    .conflict,
                    "\(files.name) has the checkpoint of a tree of \(head.size) transactions, and \(note == nil ? "the log" : "the note") "
                        + "is of \(known.size). A published log must not shrink. "
                        + (note == nil ? "Use the newest copy of the store." : "Use a newer note."))
            }
            // The tiles of another log would not fit the checkpoint.
            guard try known.root(ofFirst: head.size) == head.root else { throw TiledLog.otherLog(files) }
        }
        let published = try TiledLog(reader, files, size: known.size)
        guard published.root == known.root else { throw TiledLog.otherLog(files) }
        let count = files.writtenCount
        // The checkpoint is last, so that each file that it needs is there.
        if note != nil { try files.put(Array(checkpoint.utf8), "checkpoint") }
        return TileReport(size: known.size, root: known.root, fileCount: count, isSigned: note != nil)
    }
}

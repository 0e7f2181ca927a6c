internal import CambiumBytes
import CambiumGraph
package import CambiumLog
public import CambiumModel
public import CambiumProofs

/// The result of checking a whole store.
///
/// ```swift
/// let verification = try Store.verify(at: "notes")
/// print(verification.isSound, verification.transactionCount, verification.root)
/// for finding in verification.findings { print(finding) }
/// ```
public struct Verification: Sendable {
    /// Whether the store is free of corruption. A transaction that a crash left incomplete is not corruption, and neither is one torn slot
    /// of the file HEAD; `findings` reports both.
    public private(set) var isSound = true
    /// The transactions among which the first corrupt one is; `nil` if no transaction is corrupt. It is a single transaction if its bytes
    /// fail verification, if it cannot be replayed, or if it is missing. It is a range if the transactions verify, but one of them replaces
    /// a transaction over which a checkpoint has the hash tree. Everything before the range is intact.
    public private(set) var firstCorrupt: ClosedRange<TransactionNumber>?
    /// The number of transactions that pass verification.
    public private(set) var transactionCount = 0
    /// The root of the Merkle tree over all transactions, 64 hexadecimal digits (RFC 6962).
    public private(set) var root = ""
    /// The digest of the graph that results from the log; `nil` if the log cannot be replayed.
    public private(set) var digest: GraphDigest?
    /// The findings as sentences; empty if there are none.
    public private(set) var findings: [String] = []
    /// The number of bytes of the log; 0 if its files were not found.
    package private(set) var logByteCount = 0
    /// The first transaction after which the log had the root that the caller gave; `nil` if it never had this root, or if there is none.
    public private(set) var knownRootMoment: TransactionNumber?
    /// The tree with which the log is compared; `nil` if there is none.
    private let known: TreeHead?
    private let knownRoot: TreeHash?

    /// Checks a store as `Store.verify(at:archive:)` does. If `knownRoot` is given, a log that never had this root is corrupt.
    package init(
        _ volume: any Volume, archive: (any Volume)? = nil, against known: TreeHead? = nil, knownRoot: TreeHash? = nil
    ) throws {
        (self.known, self.knownRoot) = (known, knownRoot)
        do {
            let reader = try LogReader(whole(volume, archive))
            for flaw in reader.flaws {
                if flaw == reader.tornHead { findings.append(flaw) } else { reportCorruption(flaw) }
            }
            // A concurrent compaction may retire a part of the log that is being replayed. The replay then starts again with the checkpoint
            // that replaces that part.
            while try !replay(reader) {}
        } catch let error as CambiumError where error.code == .corrupted || error.code == .unsupportedFormat {
            reportCorruption(error.description)
        }
    }

    /// Returns the files of the store together with those of its archive. Returns the files of the store alone if the archive is corrupt or
    /// lacks a retired part of the log.
    private mutating func whole(_ store: any Volume, _ archive: (any Volume)?) throws -> any Volume {
        guard let archive else { return store }
        let source = try SegmentArchive(reading: archive, of: try LogReader(store).settings.store)
        do {
            return try ArchivedVolume(store, source)
        } catch let error as CambiumError where error.code == .corrupted || error.code == .notFound {
            reportCorruption(error.description)
            return store
        }
    }

    private mutating func reportCorruption(_ finding: String) {
        isSound = false
        findings.append(finding)
    }

    /// Replays the log, and records its faults. Returns `false`, without findings, if a part of the log that the replay needed was retired
    /// during the replay.
    private mutating func replay(_ reader: LogReader) throws -> Bool {
        let retiredEnd = try reader.retiredEnd()
        do {
            return try replay(reader, after: retiredEnd)
        } catch let error as CambiumError where error.code == .notFound {
            // A concurrent compaction may have removed a file that the replay needs. If there was no compaction, the error is thrown.
            if try reader.retiredEnd() == retiredEnd { throw error }
            return false
        }
    }

    private mutating func replay(_ reader: LogReader, after retiredEnd: TransactionNumber) throws -> Bool {
        // The size is known even if the log turns out to be corrupt.
        logByteCount = try LogDirectory.files(reader.volume).byteCount
        let listed = try CheckpointRecord.list(reader.volume)
        var tree = try TreeCheck(reader, known: known, knownRoot: knownRoot)
        var count = 0
        defer {
            transactionCount = count
            root = HexText.encode(tree.tree.root)
            knownRootMoment = tree.knownRootMoment
        }
        var redacted: TransactionNumber?
        var replay = try Replay(beginning(reader, after: retiredEnd))
        let stored = replay.origin.transaction
        if stored != .none {
            // The replay begins after the retired transactions, but the tree includes them.
            var last = TransactionNumber.none
            do {
                _ = try reader.scan(makesDurable: true) { record in
                    last = record.number
                    guard record.number <= stored else { return }
                    tree.append(record, try record.leafHash())
                    count += 1
                }
            } catch let error as CambiumError where error.code == .corrupted {
                if last < max(stored, reader.lastDurableTransaction) { firstCorrupt = Self.only(last.rawValue + 1) }
                throw error
            }
        }
        var graphs: [TransactionNumber: ExpectedGraph] = [:]
        var shown: DigestThread?
        if stored != .none { graphs[stored] = ExpectedGraph(replay.timeline.head) }
        let end: LogReader.End
        do {
            end = try replay.run(
                makesDurable: true,
                until: { record in
                    guard case .redacted = record.payload else { return false }
                    redacted = record.number
                    return true
                },
                observe: { record, leafHash in
                    tree.append(record, leafHash)
                    count += 1
                },
                at: Set(listed),
                show: { graph in
                    if let shown { graphs[shown.graph.transaction] = shown.expectedGraph() }
                    shown = DigestThread(graph)
                })
        } catch let error as CambiumError where error.code == .corrupted {
            // After a redacted transaction, none is replayed.
            let sound = redacted == nil ? stored.rawValue + UInt64(replay.transactionCount) : UInt64(count)
            firstCorrupt = tree.differing ?? Self.only(sound + 1)
            if let finding = tree.finding { reportCorruption("log: \(finding)") }
            throw error
        }
        firstCorrupt = tree.differing
        if redacted != nil, try reader.retiredEnd() > retiredEnd { return false }
        try end.requireTransaction(in: reader.volume)
        if let finding = tree.finding { reportCorruption("log: \(finding)") }
        if let known, known.size > count {
            firstCorrupt = firstCorrupt ?? Self.only(UInt64(count) + 1)
            reportCorruption("log: it has \(count) transactions, and the given checkpoint \(known.size): the last ones were removed")
        }
        if let knownRoot, tree.knownRootMoment == nil {
            reportCorruption(
                "log: it never had the root \(knownRoot), so transactions that led to this root were changed or removed, or the root is "
                    + "that of another store")
        }
        let notes = RecoveryReport(reader, Replay.Origin(), end, transactionCount: 0).notes
        findings += notes.filter { !reader.flaws.contains($0) }
        if let redacted {
            findings.append("transaction \(redacted) is redacted, so the graph after it cannot be replayed from the log")
            return true
        }
        let last = replay.timeline.head.transaction
        if let earlier = shown, earlier.graph.transaction != last {
            graphs[earlier.graph.transaction] = earlier.expectedGraph()
            shown = nil
        }
        graphs[last] = checkGraph(of: replay, shown ?? DigestThread(replay.timeline.head))
        digest = graphs[last]?.digest
        // Each checkpoint takes as much memory as this graph, so the graph is released first.
        shown = nil
        _ = consume replay
        if let note = try PageFile.corruptionNote(reader.volume) { reportCorruption("checkpoints: \(note)") }
        // A writer records a checkpoint only after its transactions are durable. So the log has lost transactions if it ends before a
        // checkpoint that existed when the replay began. A checkpoint that was recorded during the replay is checked only if the replay
        // reached the checkpoint's transaction.
        let numbers = try CheckpointRecord.list(reader.volume)
        // If this checkpoint is corrupt, neither an older checkpoint nor the log can replace it.
        let oldest = retiredEnd == .none ? nil : numbers.last { $0 >= retiredEnd }
        let wanted = numbers.filter { $0 <= last || listed.contains($0) }
        let check = CheckpointCheck(reader: reader, graphs: graphs, last: last, times: tree.times, retiredEnd: stored, oldest: oldest)
        for finding in try check.findings(of: wanted) { reportCorruption(finding) }
        return true
    }

    private static func only(_ number: UInt64) -> ClosedRange<TransactionNumber> {
        TransactionNumber(rawValue: number)...TransactionNumber(rawValue: number)
    }

    /// Checks the invariants and the pages of a replayed graph, while another thread computes its digest.
    private mutating func checkGraph(of replay: Replay, _ digest: DigestThread) -> ExpectedGraph {
        for finding in replay.timeline.head.invariantFindings() { reportCorruption("graph: \(finding)") }
        let expected = digest.expectedGraph()
        for finding in PageChecker.findings(in: replay.timeline) { reportCorruption("pages: \(finding)") }
        return expected
    }

    /// Returns the state with which the replay begins: the empty graph before the first transaction, or the checkpoint that replaces the
    /// retired transactions.
    private func beginning(_ reader: LogReader, after retiredEnd: TransactionNumber) throws -> LoadedCheckpoint {
        if retiredEnd == .none { return try LoadedCheckpoint(before: reader) }
        for number in try CheckpointRecord.list(reader.volume).reversed() where number >= retiredEnd {
            do throws(CambiumError) {
                return try LoadedCheckpoint(reader, of: number, checksAll: true)
            } catch {
                // A writer may have dropped the checkpoint after the directory was listed.
                guard error.code == .corrupted || error.code == .notFound else { throw error }
            }
        }
        return try LoadedCheckpoint(reader)
    }
}

/// A thread that computes the digest of a graph, while the replay continues.
private final class DigestThread {
    private final class Result: Sendable { let digest = Guarded<GraphDigest?>(nil) }

    let graph: Graph
    private let result = Result()
    private var thread: DedicatedThread?

    init(_ graph: Graph) {
        self.graph = graph
        thread = DedicatedThread { [result] in
            let digest = graph.digest()
            result.digest.withLock { $0 = digest }
        }
    }

    deinit { thread?.join() }

    /// Waits for the digest. If the system could not start the thread, computes the digest here.
    func expectedGraph() -> ExpectedGraph {
        thread?.join()
        thread = nil
        return ExpectedGraph(graph, digest: result.digest.withLock { $0 })
    }
}

extension Store {
    /// Checks every checksum, replays the log, and checks the invariants and the pages of the graph.
    ///
    /// Corruption is a finding and not an error. Throws `.notFound` if there is no store or if the creation of the store was interrupted.
    /// Throws `.ioFailure` if the store cannot be read. Complexity: O(bytes of the log + bytes of the graph).
    ///
    /// ```swift
    /// print(try Store.verify(at: "notes").findings)
    /// ```
    ///
    /// - Parameters:
    ///   - path: The directory of the store.
    ///   - archive: The directory of the archive, which contains the retired parts of the log. The archive is checked, too, and the log is
    ///     replayed from its first transaction. A part that the archive lacks is a finding. Throws `.notFound` if there is no archive, and
    ///     `.conflict` if it belongs to another store.
    ///   - known: The tree of a checkpoint that was kept elsewhere. A log that does not begin with this tree is corrupt. The caller checks
    ///     the signatures of the checkpoint, for example with `Trust.head(ofCheckpoint:)`.
    public static func verify(at path: String, archive: String? = nil, against known: TreeHead? = nil) throws -> Verification {
        try Verification(SystemVolume(root: path), archive: archive.map { SystemVolume(root: $0) }, against: known)
    }

    /// Does the same as `verify(at:archive:against:)`, for a root whose number of transactions is unknown. A log that never had this root
    /// is corrupt. `Verification.knownRootMoment` is the transaction after which it had the root. Takes O(log n) more for each transaction.
    ///
    /// ```swift
    /// if let root = TreeHash(hex: written) { print(try Store.verify(at: "notes", againstRoot: root).isSound) }
    /// ```
    public static func verify(at path: String, archive: String? = nil, againstRoot root: TreeHash) throws -> Verification {
        try Verification(SystemVolume(root: path), archive: archive.map { SystemVolume(root: $0) }, knownRoot: root)
    }
}

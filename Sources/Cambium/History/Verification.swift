internal import CambiumGraph
package import CambiumLog
public import CambiumModel

/// What a check of a whole store found.
public struct Verification: Sendable {
    /// Whether nothing is damaged. A transaction that a crash left half-written is no damage; it is told in `findings`.
    public private(set) var isSound = true
    public private(set) var transactionCount = 0
    /// The root of the tree over all transactions, 64 hexadecimal digits (RFC 6962).
    public private(set) var root = ""
    /// That of the graph that the log comes to; nil where the log cannot be replayed.
    public private(set) var digest: GraphDigest?
    public private(set) var findings: [String] = []
    /// Bytes of log that were read.
    public private(set) var logByteCount = 0

    /// Checks every checksum, replays the log, and checks the graph's invariants and pages.
    ///
    /// Damage is a finding and no error. Throws `.notFound` if there is no store, or its creation was interrupted; `.ioFailure` if it
    /// cannot be read.
    /// Complexity: O(log + graph).
    ///
    /// - Parameter archive: where what was retired of the log was put: it is checked, too, and the log is replayed from the first
    ///   transaction on. What it lacks is a finding; throws `.notFound` where there is none, `.conflict` where it is another store's.
    public init(of path: String, archive: String? = nil) throws {
        try self.init(SystemVolume(root: path), archive: archive.map { SystemVolume(root: $0) })
    }

    package init(_ volume: any Volume, archive: (any Volume)? = nil) throws {
        do {
            let reader = try LogReader(whole(volume, archive))
            for flaw in reader.flaws { damage(flaw) }
            // A compaction beside it may retire what is being replayed: then the replay begins with the checkpoint that stands for that.
            while try !replay(reader) {}
        } catch let error as CambiumError where error.code == .damaged || error.code == .unsupportedFormat {
            damage(error.description)
        }
    }

    /// The store with what its archive has; by itself where that is not what was retired.
    private mutating func whole(_ store: any Volume, _ archive: (any Volume)?) throws -> any Volume {
        guard let archive else { return store }
        let source = try SegmentArchive(reading: archive, of: try LogReader(store).settings.store)
        do {
            return try ArchivedVolume(store, source)
        } catch let error as CambiumError where error.code == .damaged || error.code == .notFound {
            damage(error.description)
            return store
        }
    }

    private mutating func damage(_ finding: String) {
        isSound = false
        findings.append(finding)
    }

    /// Returns false, with nothing noted, if a part of the log that had to be replayed was retired meanwhile.
    private mutating func replay(_ reader: LogReader) throws -> Bool {
        var tree = try TreeCheck(reader)
        var count = 0
        defer {
            transactionCount = count
            root = HexText.encode(tree.tree.root)
        }
        var redacted: TransactionNumber?
        let retiredEnd = try reader.retiredEnd()
        let stored = try beginning(reader, after: retiredEnd)
        var replay = try Replay(stored)
        if stored.transaction != .none {
            // The tree has the retired transactions too.
            _ = try reader.scan(makesDurable: true) { record in
                guard record.number <= stored.transaction else { return }
                try tree.append(record)
                count += 1
            }
        }
        let end = try replay.run(
            reader, makesDurable: true,
            until: { record in
                guard case .redacted = record.payload else { return false }
                redacted = record.number
                return true
            },
            observe: { record in
                try tree.append(record)
                count += 1
            })
        if redacted != nil, try reader.retiredEnd() > retiredEnd { return false }
        try end.requireTransaction(in: reader.volume)
        if let finding = tree.finding { damage("log: \(finding)") }
        logByteCount = try LogReader.files(reader.volume).byteCount
        let notes = RecoveryReport(reader, StoredGraph(before: reader), end, transactionCount: 0).notes
        findings += notes.filter { !reader.flaws.contains($0) }
        if let redacted {
            findings.append("transaction \(redacted) is redacted, so the graph behind it cannot be replayed from the log")
            return true
        }
        let graph = stored.timeline.head
        let digest = graph.digest()
        self.digest = digest
        for finding in graph.invariantFindings() { damage("graph: \(finding)") }
        for finding in PageChecker.findings(in: stored.timeline) { damage("pages: \(finding)") }
        if let told = try PageFile.damageTold(reader.volume) { damage("checkpoints: \(told)") }
        for number in try RootRecord.list(reader.volume) where number <= graph.transaction {
            try check(number, reader, transaction: graph.transaction, digest)
        }
        return true
    }

    /// Where the replay begins: before the first transaction, or with the checkpoint that stands for those that were retired.
    private func beginning(_ reader: LogReader, after retiredEnd: TransactionNumber) throws -> StoredGraph {
        if retiredEnd == .none { return StoredGraph(before: reader) }
        for number in try RootRecord.list(reader.volume).reversed() where number >= retiredEnd {
            do throws(CambiumError) {
                return try StoredGraph(reader, of: number, checksAll: true)
            } catch {
                guard error.code == .damaged else { throw error }
            }
        }
        return try StoredGraph(reader)
    }

    /// Compares every chunk of a checkpoint with its checksum, and what it comes to with what the log comes to.
    private mutating func check(
        _ number: TransactionNumber, _ reader: LogReader, transaction: TransactionNumber, _ digest: GraphDigest
    ) throws {
        do throws(any Error) {
            let stored = try StoredGraph(reader, of: number, checksAll: true)
            var replay = try Replay(stored)
            _ = try replay.run(reader, makesDurable: true) { $0.number > transaction }
            if stored.timeline.head.digest() != digest {
                damage("the checkpoint of transaction \(number) does not come to the graph that the log comes to")
            }
        } catch let error as CambiumError where error.code == .damaged {
            damage("the checkpoint of transaction \(number): \(error)")
        } catch let error as CambiumError where error.code == .notFound {
            return  // A writer has dropped it since.
        }
    }
}

import CambiumGraph
package import CambiumLog
import CambiumModel

/// What could be saved of a damaged store.
public struct Repair: Sendable {
    /// The transactions that are in the new store: all before the first one that is damaged.
    public private(set) var transactionCount = 0
    public private(set) var objectCount = 0
    public private(set) var linkCount = 0
    /// The root of the tree over these transactions, the same as in the old store; 64 hexadecimal digits.
    public private(set) var root = ""
    /// What is wrong with the old store; empty where nothing is, and nothing was lost.
    public private(set) var findings: [String] = []

    /// Copies what verifies and can be applied into a new store. The old one is read only.
    ///
    /// Transactions keep their numbers, times, authors and places in the tree. What comes after the first that is damaged is left
    /// behind, because it builds on it. Throws `.notFound` where there is no store, `.cannotCreate` where something is in the way,
    /// `.damaged` where nothing verifies, `.ioFailure`; then there is no store in the new place. Complexity: O(log).
    public init(of path: String, to newPath: String) throws {
        let target = SystemVolume(root: newPath)
        let reader = try Self.reader(SystemVolume(root: path))
        try target.createDirectory("")
        try self.init(reader.log, reader.finding, to: target, surroundings: .system)
    }

    package init(_ volume: any Volume, to target: any Volume, surroundings: Surroundings) throws {
        let reader = try Self.reader(volume)
        try self.init(reader.log, reader.finding, to: target, surroundings: surroundings)
    }

    /// A store whose settings are damaged has its id in its segments too.
    private static func reader(_ volume: any Volume) throws(CambiumError) -> (log: LogReader, finding: String?) {
        do {
            return (try LogReader(volume), nil)
        } catch {
            guard error.code == .damaged else { throw error }
            return (try LogReader(volume, settings: try LogReader.settingsTold(by: volume)), error.description)
        }
    }

    private init(_ reader: LogReader, _ finding: String?, to target: any Volume, surroundings: Surroundings) throws {
        findings = (finding.map { [$0] } ?? []) + reader.flaws
        var settings = reader.settings
        settings.store = surroundings.randomBytes(16)
        let lock = try target.lock(LogWriter.lockFileName)
        defer { lock.unlock() }
        try LogWriter.create(target, settings, saltSeed: surroundings.randomBytes(16))
        do {
            let empty = try LogReader(target)
            let writer = try LogWriter(empty, try empty.scan { _ in }, keepsRoom: false) { surroundings.randomBytes(16) }
            try copy(reader, to: writer)
            try writer.close()
        } catch {
            let cause = error
            do {
                try LogWriter.removeFiles(target)
            } catch {
                throw CambiumError(
                    .ioFailure, "\(cause) What is left in the new place cannot be removed: \(error.message)", underlying: error)
            }
            throw cause
        }
    }

    private mutating func copy(_ reader: LogReader, to writer: LogWriter) throws {
        let timeline = Timeline(on: reader.volume)
        var tree = LogTree()
        do {
            let end = try reader.scan(salvages: true) { record in
                if case .redacted = record.payload {
                    throw CambiumError(
                        .damaged,
                        "What transaction \(record.number) did was retired, and what follows builds on it; "
                            + "'cambium backup' copies what is there."
                    )
                }
                var draft = timeline.draft()
                try draft.replay(record)
                try timeline.publish(draft)
                try writer.append(record)
                try tree.append(record)
                transactionCount += 1
            }
            findings += end.flaws
            findings += RecoveryReport(reader, StoredGraph(before: reader), end, transactionCount: 0).notes.filter {
                !reader.flaws.contains($0)
            }
        } catch let error as CambiumError where error.code == .damaged {
            if transactionCount == 0 { throw error }
            findings.append(error.description)
        }
        root = HexText.encode(tree.root)
        objectCount = timeline.head.objectCount
        linkCount = timeline.head.linkCount
    }
}

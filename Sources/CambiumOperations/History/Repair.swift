import CambiumGraph
package import CambiumLog
public import CambiumModel

/// The parts of a corrupt store that a repair saved, and a list of the missing parts.
///
/// ```swift
/// let repair = try Store.repair(at: "notes", to: "notes-repaired")
/// for finding in repair.findings { print(finding) }
/// ```
public struct Repair: Sendable {
    /// The number of transactions that the repair saved in the new store. Each transaction has the same number as in the store that was
    /// read.
    public internal(set) var transactionCount = 0
    /// The number of objects in the new store.
    package internal(set) var objectCount = 0
    /// The number of links in the new store. A relationship and its inverse count once.
    package internal(set) var linkCount = 0
    /// The root of the Merkle tree over the transactions of the new store, 64 hexadecimal digits. If nothing is missing, the store that was
    /// read has the same root.
    public internal(set) var root = ""
    /// The faults of the store that was read; empty if nothing is corrupt or missing.
    public internal(set) var findings: [String] = []
    /// The transactions whose changes are missing, in ascending order.
    ///
    /// If the new store has a transaction after a range, the last transaction of the range contains the state of a checkpoint. The other
    /// transactions of the range change nothing. They keep their author, time and request if these can still be read from the log.
    public internal(set) var missing: [ClosedRange<TransactionNumber>] = []

    init() {}

    package init(_ volume: any Volume, to target: any Volume, environment: StoreEnvironment) throws {
        let (reader, flaw) = try Self.reader(volume)
        try self.init(reader, flaws: [flaw].compactMap(\.self), to: target, environment: environment)
    }

    /// Opens the log of a store. If the settings of the store are missing or corrupt, takes the id of the store from the log files and
    /// checkpoints.
    fileprivate static func reader(_ volume: any Volume) throws(CambiumError) -> (log: LogReader, flaw: String?) {
        do {
            return (try LogReader(volume), nil)
        } catch {
            let isMissing = error.code == .notFound
            // If the store was never completely created, because its creation was interrupted, there is nothing to repair.
            guard error.code == .corrupted || isMissing, try !StoreCreation.isInterrupted(volume) else { throw error }
            do throws(CambiumError) {
                return (try LogReader(volume, settings: try LogReader.impliedSettings(volume)), error.description)
            } catch let other {
                // A directory without any file of a store is not a corrupt store, so the error stays `.notFound`.
                throw isMissing && other.code == .corrupted ? error : other
            }
        }
    }

    /// Returns the log together with its archive, if an archive is known and can be used.
    fileprivate static func whole(_ reader: LogReader, _ archive: String?) throws -> (log: LogReader, flaw: String?) {
        guard let path = try archive ?? reader.archiveOfCorruptStore() else { return (reader, nil) }
        do {
            let source = try SegmentArchive(reading: SystemVolume(root: path), of: reader.settings.store)
            return try whole(reader, source)
        } catch let error as CambiumError where archive == nil || error.code == .corrupted {
            return (reader, "The archive '\(path)' is not used: \(error)")
        }
    }

    /// Returns the log together with its archive.
    ///
    /// The store must prove that the archived transactions are its own. Its retired segments contain hashes of these transactions. If a
    /// retired segment is corrupt or missing, a later segment must state the checksum at the end of the archived part.
    static func whole(_ reader: LogReader, _ source: SegmentArchive) throws -> (log: LogReader, flaw: String?) {
        var flaw = try reader.retirementFlaw()
        let whole = Result { try ArchivedVolume(reader, source) }
        if case .failure(let error as CambiumError) = whole {
            guard error.code == .corrupted else { throw error }
            flaw = (reason: error.description, last: TransactionNumber.none)
        }
        guard let flaw, let (volume, end) = try ArchivedVolume.salvaging(reader, source), end > flaw.last else {
            return (try LogReader(whole.get(), settings: reader.settings), nil)
        }
        let use = "The archive '\(source.volume.name)' replaces the log up to transaction \(end)."
        return (try LogReader(volume, settings: reader.settings), "\(flaw.reason) \(use)")
    }

    /// The maximum number of attempts of a repair. If the store changed during an attempt that found corruption, the attempt may have seen
    /// an unfinished write of another process. In that case, a new attempt begins.
    private static let attemptCountMax = 10

    /// The error that ends an attempt, because the store changed while the attempt found corruption.
    private struct Changed: Error {}

    fileprivate init(_ reader: LogReader, flaws: [String], to target: any Volume, environment: StoreEnvironment) throws {
        var (attempt, refused) = (1, [TransactionNumber: String]())
        while true {
            // The fingerprint is taken first, so that it also covers what the reader finds in HEAD.
            let before = try LogSalvage(reader).fingerprint()
            let log = try LogReader(reader.volume, settings: reader.settings)
            do {
                self = try Self.run(log, without: refused, to: target, environment) { findings in
                    let isSound = log.flaws.isEmpty && findings.isEmpty
                    if attempt < Self.attemptCountMax, !isSound, try LogSalvage(log).fingerprint() != before { throw Changed() }
                }
                findings = flaws + log.flaws + findings
                return
            } catch is Changed {
                attempt += 1
            } catch let refusal as RepairRun.RefusedCheckpoint {
                refused[refusal.transaction] = refusal.reason
            }
        }
    }

    /// Makes one attempt. Calls `check` with the findings when the log was read, before the new store replaces the target.
    private static func run(
        _ log: LogReader, without refused: [TransactionNumber: String], to target: any Volume, _ environment: StoreEnvironment,
        check: ([String]) throws -> Void
    ) throws -> Repair {
        var settings = log.settings
        settings.store = environment.randomBytes(16)
        settings.indexSecret = environment.randomBytes(16)
        let (report, lock) = try StoreCreation.make(in: target, store: settings.store) { volume in
            try LogWriter.create(volume, settings, saltSeed: environment.randomBytes(16))
            let empty = try LogReader(volume)
            let writer = try LogWriter(empty, try empty.scan { _ in }, preallocates: false) { environment.randomBytes(16) }
            var run = try RepairRun(log, writer, without: refused)
            try run.save()
            try writer.close()
            try check(run.report.findings)
            return try verified(run.report, volume)
        }
        lock.unlock()
        return report
    }

    private static func verified(_ report: Repair, _ volume: any Volume) throws -> Repair {
        let verification = try Verification(volume)
        var report = report
        // A forged log may contain data that a commit would refuse, such as two objects with one identity. The repair saves such data
        // unchanged, and reports it.
        report.findings += verification.findings
        (report.transactionCount, report.root) = (verification.transactionCount, verification.root)
        return report
    }
}

extension Store {
    /// Saves the parts of a store that pass verification into a new store. The old store is not changed.
    ///
    /// The log is read first. If a part of the log is corrupt or was retired, the repair continues with the next checkpoint that passes
    /// verification. The state of that checkpoint becomes one transaction, and the log that follows the checkpoint is replayed. Other
    /// processes may write to the old store: if the store changed while corruption was found, the repair starts again.
    ///
    /// Throws `.notFound` if there is no store, `.cannotCreate` if the new directory is not empty, and `.corrupted` if no part passes
    /// verification. Throws `.ioFailure` if a file cannot be read or written. After an error, there is no store in the new directory.
    /// Complexity: O(bytes of the log + bytes of the graph) for each checkpoint that is used.
    ///
    /// - Parameters:
    ///   - path: the directory of the old store.
    ///   - newPath: the directory of the new store, which does not exist or is empty.
    ///   - archive: the directory of the archive, which contains the retired parts of the log; `nil` for the archive that the store names,
    ///     if that archive exists.
    public static func repair(at path: String, to newPath: String, archive: String? = nil) throws -> Repair {
        let target = SystemVolume(root: newPath)
        let source = SystemVolume(root: path)
        try target.checkIsOutside(of: source)
        let (reader, flaw) = try Repair.reader(source)
        let (whole, archiveFlaw) = try Repair.whole(reader, archive)
        return try target.withDirectory {
            try Repair(whole, flaws: [flaw, archiveFlaw].compactMap(\.self), to: target, environment: .system)
        }
    }
}

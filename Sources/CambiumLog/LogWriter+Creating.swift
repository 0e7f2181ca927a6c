import CambiumBytes
public import CambiumModel

extension LogWriter {
    /// Makes the files of an empty store, in the place of those that an interrupted making left behind. The directory must be
    /// there, and the caller must have its lock.
    ///
    /// Throws `.cannotCreate` where there is something else.
    public static func create(
        _ volume: any Volume, _ settings: StoreSettings, saltSeed: [UInt8]
    ) throws(CambiumError) {
        try removeInterrupted(volume)
        try volume.createDirectory(LogReader.directory)
        let first = TransactionNumber(rawValue: 1)
        let header = SegmentHeader(
            store: settings.store, firstTransaction: first, creationTime: settings.creationTime, saltSeed: saltSeed,
            previousChecksum: 0)
        try volume.create(LogFileName.path(first, .segment), header.encode())
        try volume.syncDirectory(LogReader.directory)
        let position = UInt64(Format.Segment.headerByteCount)
        let heads = [0, 1].map { sequence in
            Head(sequence: sequence, segment: first, position: position, lastTransaction: .none, isClosed: true).encode(
                store: settings.store)
        }
        try volume.create(Head.fileName, heads[0] + heads[1])
        // The settings come last: they are what makes the directory a store.
        try volume.replace(StoreSettings.fileName, settings.encode())
        try volume.syncDirectory("")
    }

    /// Removes what a process left behind that ended before the first transaction of a new store was in its log.
    private static func removeInterrupted(_ volume: any Volume) throws(CambiumError) {
        let names = try volume.list("").filter { $0 != lockFileName }
        let logNames = try volume.list(LogReader.directory)
        if names.isEmpty && logNames.isEmpty { return }
        guard names.allSatisfy({ isName($0) }) else {
            throw CambiumError(.cannotCreate, "'\(volume.name)' is not empty; choose another place.")
        }
        guard isInterrupted(volume, logNames) else {
            throw CambiumError(.cannotCreate, "There is a store at '\(volume.name)' already; choose another place.")
        }
        try removeFiles(volume)
    }

    /// Removes the files of a store whose lock the caller has: the settings first, without which nobody takes the rest for a store.
    public static func removeFiles(_ volume: any Volume) throws(CambiumError) {
        let names = try volume.list("")
        for name in fileNames where names.contains(name) { try volume.remove(name) }
        try volume.syncDirectory("")
        try PageFileWriter.removeRoots(volume)
        try PageFileWriter.removeFiles(volume, except: [])
        for name in try volume.list(LogReader.directory) { try volume.remove(LogReader.directory + "/" + name) }
        try volume.syncDirectory(LogReader.directory)
    }

    private static func isName(_ name: String) -> Bool {
        fileNames.contains(name) || name == LogReader.directory || name == RootRecord.directory || PageFile.isName(name)
    }

    /// What a store has beside its directories, its pages and its lock.
    private static let fileNames = [
        StoreSettings.fileName, StoreSettings.fileName + LogFileName.replacementSuffix, Head.fileName, ArchiveNote.fileName,
        ArchiveNote.fileName + LogFileName.replacementSuffix,
    ]

    /// Whether a log never had a transaction: then nothing is lost with it.
    private static func isInterrupted(_ volume: any Volume, _ logNames: [String]) -> Bool {
        do {
            let hasSettings = try volume.exists(StoreSettings.fileName)
            let segments = logNames.compactMap { LogFileName.parse($0) }.filter { $0.suffix == .segment }
            if segments.isEmpty { return !hasSettings }
            guard segments.count == 1, segments[0].number.rawValue == 1 else { return false }
            let path = LogFileName.path(segments[0].number, .segment)
            if !hasSettings, try volume.byteCount(of: path) <= Format.Segment.headerByteCount { return true }
            let log = try hasSettings ? LogReader(volume) : LogReader(volume, settings: LogReader.impliedSettings(volume))
            // What is torn may be what is left of a store that is damaged.
            let end = try log.scan { _ in }
            return end.lastTransaction == .none && end.verdict == .clean
        } catch {
            // What cannot be read may be worth a repair.
            return false
        }
    }
}

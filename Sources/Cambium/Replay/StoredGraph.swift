internal import CambiumBytes
import CambiumGraph
internal import CambiumLog
import CambiumModel

extension PageFile: ChunkSource {
    package func suppliesSameChunks(as other: any ChunkSource) -> Bool {
        (other as? PageFile).map(isSameFile) ?? false
    }
}

extension UnpackedMemory: ChunkDestination {}
extension PageFileMemory: PageStorage {}

/// The beginning of a replay: a stored graph, or the state before the first transaction.
struct StoredGraph {
    let timeline: Timeline
    /// The stored pages; `nil` if the whole log is replayed.
    let pages: PageFile?
    /// The flaws of the checkpoints that were passed over.
    let flaws: [String]
    /// The checkpoints that were passed over.
    let passedOver: [TransactionNumber]

    /// The last transaction that is in the graph.
    var transaction: TransactionNumber { pages?.root.transaction ?? .none }

    /// Returns the file that the next checkpoint continues, or `nil` if it begins a new one. It begins a new one if the existing file
    /// cannot be trusted, or has pages in another form than the settings require. It also does so if graphs map chunks of the file, and it
    /// is not known which.
    func pageFile(of settings: StoreSettings, _ leases: ChunkLeases) -> UInt64? {
        guard let root = pages?.root, flaws.isEmpty, root.isPacked == settings.compressesPages, leases.areReadable else { return nil }
        return root.pageFile
    }

    /// Creates the state before the first transaction of a log.
    init(before reader: LogReader) {
        timeline = Timeline(replaying: reader)
        pages = nil
        (flaws, passedOver) = ([], [])
    }

    /// Finds the newest stored graph that is not after a moment. `flaws` reports the checkpoints that cannot be used.
    ///
    /// Throws `.ioFailure` if the operating system refuses. Throws `.notFound` or `.damaged` if no checkpoint can be used, and the log of
    /// the first transactions was retired. Complexity: O(chunks).
    ///
    /// - Parameter memory: the budget for the pages. Pages beyond it are kept in a file without a name.
    init(
        _ reader: LogReader, notAfter moment: EarlierMoment = .latest, memory: MemoryBudget = .standard, tuning: LogTuning = .standard
    ) throws(CambiumError) {
        let note = try PageFile.corruptionNote(reader.volume)
        var flaws = note.map { ["all pages of the checkpoints are checked, because a process found corruption: \($0)"] } ?? []
        var passedOver: [TransactionNumber] = []
        for number in try CheckpointRecord.list(reader.volume) {
            if try Self.isLater(number, than: moment, reader) { continue }
            do throws(CambiumError) {
                let found = try StoredGraph(reader, of: number, checksAll: note != nil, memory: memory, tuning: tuning)
                (timeline, pages) = (found.timeline, found.pages)
                (self.flaws, self.passedOver) = (flaws, passedOver)
                return
            } catch {
                // A writer may have dropped the checkpoint since the directory was listed.
                if error.code == .notFound { continue }
                guard error.code == .damaged else { throw error }
                passedOver.append(number)
                flaws.append("the checkpoint of transaction \(number) is skipped: \(error)")
            }
        }
        (timeline, pages) = (Timeline(replaying: reader, memory: memory), nil)
        (self.flaws, self.passedOver) = (flaws, passedOver)
        try Self.checkNotRetired(reader, moment, flaws: flaws)
    }

    /// Makes chunks available again that no owner needs. Only for writers, and before anything is replayed. Without this, each opening
    /// would make the file larger.
    ///
    /// - Parameter pageFile: the file that the next checkpoint continues; `nil` for a new file, in which no chunk has an owner.
    func reuseChunks(of pageFile: UInt64?, _ leases: ChunkLeases) {
        guard let pageFile, let root = pages?.root else { return timeline.reuse(.none) }
        timeline.reuse(ChunkOwners(isRooted: root.chunks.map { $0 != .unused }, leased: leases.chunks(of: pageFile)))
    }

    /// Whether there is a checkpoint that is after a transaction and not after a moment. Complexity: O(checkpoints); if the moment is a
    /// time, their records are read.
    static func hasCheckpoint(
        _ reader: LogReader, notAfter moment: EarlierMoment, after transaction: TransactionNumber
    ) throws(CambiumError) -> Bool {
        for number in try CheckpointRecord.list(reader.volume) where number > transaction {
            if try !isLater(number, than: moment, reader) { return true }
        }
        return false
    }

    /// Whether a checkpoint is after a moment. Returns `false` if its record is corrupt; the attempt to open that checkpoint reports the
    /// reason.
    private static func isLater(
        _ number: TransactionNumber, than moment: EarlierMoment, _ reader: LogReader
    ) throws(CambiumError) -> Bool {
        if let last = moment.number, number > last { return true }
        guard let time = moment.time?.microsecondsSince1970 else { return false }
        do throws(CambiumError) {
            return try PageFile.root(reader.volume, store: reader.settings.store, number).map { $0.record.time > time } ?? false
        } catch {
            guard error.code == .notFound else { throw error }
            return true  // A writer has dropped it since.
        }
    }

    /// Opens the stored graph of one transaction. Throws `.notFound` if there is no such checkpoint, and `.damaged` if it is corrupt.
    ///
    /// - Parameter checksAll: whether all pages and values are checked, however many there are.
    init(
        _ reader: LogReader, of number: TransactionNumber, checksAll: Bool = false, memory: MemoryBudget = .standard,
        tuning: LogTuning = .standard
    ) throws(CambiumError) {
        let pages = try PageFile(
            reader.volume, store: reader.settings.store, number, fanOutShift: PageImage.fanOutShift,
            checkedByteCountMax: checksAll ? .max : tuning.checkedByteCountMax,
            // Chunks are touched in any order, so each one gets disk space by itself.
            destination: UnpackedMemory(memory, beyondIt: PageFileMemory(reader.volume, nil, chunkCount: .max)))
        timeline = try Timeline(
            PageImage(pages.root), layout: pages.root.layout, schema: pages.root.schema,
            hasRegister: pages.root.firstFormat == nil, source: pages, memory: memory)
        timeline.requestCountMax = reader.settings.requestWindow
        guard timeline.head.transaction == number else {
            throw CambiumError(.damaged, "The pages of checkpoint \(number) belong to transaction \(timeline.head.transaction).")
        }
        let byteCount = pages.root.chunks.count { $0.hasPages } * PageFile.chunkByteCount
        let isProven = checksAll || pages.isCheckedInWhole && byteCount <= tuning.provenByteCountMax
        let found = isProven ? timeline.storedFlaws() : timeline.storedTableFlaws()
        guard found.isEmpty else { throw pages.flaw(found.prefix(3).joined(separator: " ")) }
        guard Self.hasValidLabels(pages, timeline) else {
            throw pages.flaw("a label has a name that no caller may set, or names a transaction after the checkpoint")
        }
        timeline.keepPages(in: PageFileMemory(reader.volume, nil))
        self.pages = pages
        (flaws, passedOver) = ([], [])
    }

    /// Whether each label is one that a caller may have set. Labels in pages are only examined if all pages were checked.
    private static func hasValidLabels(_ pages: PageFile, _ timeline: Timeline) -> Bool {
        var isValid = true
        func check(_ name: String, _ number: TransactionNumber) {
            isValid = isValid && TransactionLabel.isValid(name) && (1...pages.root.transaction.rawValue).contains(number.rawValue)
        }
        if let names = pages.root.firstFormat {
            names.forEachLabel { check($0, $1) }
        } else if pages.isCheckedInWhole {
            for (name, number) in timeline.head.labels { check(name, number) }
        }
        return isValid
    }

    /// Adds the parts that pages of an earlier version lack: space for ordered indexes and, if the checkpoint has format 1, requests and
    /// labels. A writer must find out before this call which chunks are in use.
    ///
    /// Complexity: O(requests) for a checkpoint of format 1, otherwise O(tables).
    func completePages() throws(CambiumError) {
        if let names = pages?.root.firstFormat { try addRegister(names) }
        try timeline.addIndexes()
    }

    private func addRegister(_ names: FirstFormatNames) throws(CambiumError) {
        try timeline.addRegister { draft throws(CambiumError) in
            var entries: [RegisterEntry] = []
            names.forEachRequest { entries.append(RegisterEntry(name: $0, transaction: $1, digest: $2)) }
            for entry in entries { try draft.note(entry) }
            var labels: [(name: String, number: TransactionNumber)] = []
            names.forEachLabel { labels.append(($0, $1)) }
            for label in labels { try draft.setLabel(label.name, label.number) }
        }
    }

    /// Throws if the log no longer has the first transactions, so that it cannot be replayed from the beginning. Throws `.notFound` if an
    /// early moment was asked for, and `.damaged` if the checkpoints that stand for these transactions cannot be used.
    private static func checkNotRetired(_ reader: LogReader, _ moment: EarlierMoment, flaws: [String]) throws(CambiumError) {
        let retiredEnd = try reader.retiredEnd()
        if retiredEnd == .none { return }
        let oldest = try CheckpointRecord.list(reader.volume).last
        let hint = reader.archiveHint()
        if moment != .latest, let oldest, flaws.isEmpty {
            throw CambiumError(
                .notFound,
                "The log of transactions 1 to \(retiredEnd) was retired. The earliest state that can be shown is the one after transaction "
                    + "\(oldest).\(hint)")
        }
        throw CambiumError(
            .damaged,
            "The log of transactions 1 to \(retiredEnd) was retired, and no checkpoint that stands for them can be used. "
                + "Restore the store from a backup.\(hint) \(flaws.joined(separator: "; "))")
    }
}

extension LogReader {
    /// Returns a sentence, with a space before it, that names the archive of everything that was retired. Returns an empty text if the
    /// archive is not known.
    func archiveHint() -> String {
        // The caller appends the sentence to an error. If the note cannot be read, the caller must still throw that error.
        guard let archive = try? archive() else { return "" }
        return " The retired log was archived in '\(archive)'. Run 'cambium restore' with '--archive' to make a store that contains it."
    }
}

extension Timeline {
    /// Creates a timeline without transactions. Pages beyond the memory budget are kept in a file of the volume that has no name.
    convenience init(replaying reader: LogReader, memory: MemoryBudget = .standard) {
        let settings = reader.settings
        self.init(memory: memory, key: HashKey(secret: settings.indexSecret ?? settings.store))
        keepPages(in: PageFileMemory(reader.volume, nil))
        requestCountMax = settings.requestWindow
    }
}

extension PageImage {
    init(_ root: CheckpointRecord) {
        self.init(epoch: root.epoch, directory: root.pageDirectory, live: root.chunks.map { $0 == .table ? 0 : $0.live })
    }
}

internal import CambiumBytes
import CambiumGraph
package import CambiumLog
import CambiumModel

extension PageFile: ChunkSource {
    package func suppliesSameChunks(as other: any ChunkSource) -> Bool {
        (other as? PageFile).map(isSameFile) ?? false
    }
}

extension UnpackedMemory: ChunkDestination {}
extension PageFileMemory: PageStorage {}

/// The first step when a store is opened: the pages of a checkpoint are mapped and checked, or the whole log must be replayed.
///
/// The next step is a `Replay`, or an `OwnedCheckpoint` for a writer. Each step consumes the previous one.
package struct LoadedCheckpoint: ~Copyable {
    /// The log to which the checkpoint belongs. No transaction of the log has been read yet.
    let reader: LogReader
    package let timeline: Timeline
    /// The stored pages; `nil` if the whole log is replayed.
    let pages: PageFile?
    /// The flaws of checkpoints, such as the reason why a checkpoint was skipped.
    let flaws: [String]
    /// The corrupt checkpoints that were skipped when the store was opened.
    let skippedCheckpoints: [TransactionNumber]

    /// The last transaction in the graph.
    var transaction: TransactionNumber { pages?.root.transaction ?? .none }

    /// Begins with an empty graph. The next step must replay the whole log.
    ///
    /// Throws `.ioFailure` if the limits of the process leave too little memory.
    package init(before reader: LogReader, memory: MemoryBudget = .standard) throws(CambiumError) {
        (self.reader, timeline, pages) = (reader, try Timeline(replaying: reader, memory: memory), nil)
        (flaws, skippedCheckpoints) = ([], [])
    }

    /// Finds the newest stored graph that is not later than a moment. `flaws` reports the checkpoints that cannot be used.
    ///
    /// Throws `.ioFailure` if a file operation fails. Throws `.notFound` or `.corrupted` if no checkpoint can be used, and the log of the
    /// first transactions was retired. Complexity: O(chunks).
    ///
    /// - Parameter memory: the budget for the pages. Pages beyond the budget are kept in a temporary file without a name.
    package init(
        _ reader: LogReader, notAfter moment: EarlierMoment = .latest, memory: MemoryBudget = .standard, tuning: LogTuning = .standard
    ) throws(CambiumError) {
        let note = try PageFile.corruptionNote(reader.volume)
        var flaws = note.map { ["all pages of the checkpoints are checked, because a process found corruption: \($0)"] } ?? []
        var skippedCheckpoints: [TransactionNumber] = []
        var found: (timeline: Timeline, pages: PageFile?)?
        var listed: [TransactionNumber] = []
        // While the listed checkpoints are tried, a writer may drop them all, after it has made a newer checkpoint. So the list is read
        // again.
        var retiredEnd = TransactionNumber.none
        while found == nil {
            var others = try CheckpointRecord.list(reader.volume).filter { !listed.contains($0) }
            if others.isEmpty {
                // The checkpoint that replaces a retired part of the log is older than the retirement. So a list that is read after the
                // retirement contains this checkpoint, or a newer one.
                retiredEnd = try reader.retiredEnd()
                if retiredEnd == .none { break }
                others = try CheckpointRecord.list(reader.volume).filter { !listed.contains($0) }
            }
            if others.isEmpty { break }
            listed += others
            for number in others {
                if try Self.isLater(number, than: moment, reader) { continue }
                // The log after a moment of a day may be retired, so such a checkpoint does not replace a corrupt later one.
                if !skippedCheckpoints.isEmpty, try number < reader.retiredEnd() { continue }
                do throws(CambiumError) {
                    let loaded = try LoadedCheckpoint(reader, of: number, checksAll: note != nil, memory: memory, tuning: tuning)
                    found = (loaded.timeline, loaded.pages)
                    break
                } catch {
                    // A writer may have dropped the checkpoint after the directory was listed.
                    if error.code == .notFound { continue }
                    guard error.code == .corrupted else { throw error }
                    skippedCheckpoints.append(number)
                    flaws.append("the checkpoint of transaction \(number) is skipped: \(error)")
                }
            }
        }
        // If no checkpoint was skipped, `flaws` contains at most the note that a process found corruption. The note is not passed on,
        // because it does not show that a checkpoint of an early moment is corrupt.
        if found == nil, retiredEnd != .none {
            throw try Self.withoutCheckpoint(reader, moment, after: retiredEnd, flaws: skippedCheckpoints.isEmpty ? [] : flaws)
        }
        if let found {
            (timeline, pages) = found
        } else {
            (timeline, pages) = (try Timeline(replaying: reader, memory: memory), nil)
        }
        (self.reader, self.flaws, self.skippedCheckpoints) = (reader, flaws, skippedCheckpoints)
    }

    /// Opens the checkpoint of one transaction. Throws `.notFound` if the transaction has no checkpoint, and `.corrupted` if the checkpoint
    /// is corrupt.
    ///
    /// - Parameter checksAll: whether to check all pages and values, regardless of their number.
    package init(
        _ reader: LogReader, of number: TransactionNumber, checksAll: Bool = false, memory: MemoryBudget = .standard,
        tuning: LogTuning = .standard
    ) throws(CambiumError) {
        let destination = UnpackedMemory(memory, beyondIt: PageFileMemory(reader.volume, nil, chunkCount: .max))
        let pages = try PageFile(
            reader.volume, store: reader.settings.store, number, fanOutShift: PageImage.fanOutShift,
            checkedByteCountMax: checksAll ? .max : tuning.checkedByteCountMax,
            // Chunks (64 KiB of pages) may be needed in any order, so disk space is allocated for each chunk separately.
            destination: destination)
        try destination.hold(pages.root.chunks.count { $0.packedByteCount > 0 })
        let timeline = try Timeline(
            PageImage(pages.root), layout: pages.root.layout, schema: pages.root.schema,
            source: pages, memory: memory)
        timeline.requestCountMax = reader.settings.requestWindow
        guard timeline.head.transaction == number else {
            throw pages.flaw("they belong to transaction \(timeline.head.transaction)")
        }
        let byteCount = pages.root.chunks.count { $0.hasPages } * PageFile.chunkByteCount
        let isProven = checksAll || pages.isCheckedCompletely && byteCount <= tuning.provenByteCountMax
        let found = isProven ? GraphProof.flaws(of: timeline) : GraphProof.tableFlaws(of: timeline)
        guard found.isEmpty else { throw pages.flaw(found.prefix(3).joined(separator: " ")) }
        guard Self.hasValidLabels(pages, timeline) else {
            throw pages.flaw("a label has a name that no caller may set, or names a transaction after the checkpoint")
        }
        timeline.keepPages(in: PageFileMemory(reader.volume, nil))
        (self.reader, self.timeline, self.pages) = (reader, timeline, pages)
        (flaws, skippedCheckpoints) = ([], [])
    }

    /// Whether each label has a valid name and refers to an existing transaction. Labels in pages are examined only if all pages were
    /// checked.
    private static func hasValidLabels(_ pages: PageFile, _ timeline: Timeline) -> Bool {
        var isValid = true
        func check(_ name: String, _ number: TransactionNumber) {
            isValid = isValid && TransactionLabel.isValid(name) && (1...pages.root.transaction.rawValue).contains(number.rawValue)
        }
        if pages.isCheckedCompletely {
            for (name, number) in timeline.head.labels { check(name, number) }
        }
        return isValid
    }
}

extension Timeline {
    /// Creates a timeline without transactions. Pages beyond the memory budget are kept in a file without a name on the volume.
    ///
    /// Throws `.ioFailure` if the limits of the process leave too little memory.
    package convenience init(replaying reader: LogReader, memory: MemoryBudget = .standard) throws(CambiumError) {
        try Self.checkMemory()
        let settings = reader.settings
        self.init(memory: memory, key: HashKey(secret: settings.indexSecret))
        keepPages(in: PageFileMemory(reader.volume, nil))
        requestCountMax = settings.requestWindow
    }
}

extension PageImage {
    init(_ root: CheckpointRecord) {
        self.init(epoch: root.epoch, directory: root.pageDirectory, live: root.chunks.map { $0 == .table ? 0 : $0.live })
    }
}

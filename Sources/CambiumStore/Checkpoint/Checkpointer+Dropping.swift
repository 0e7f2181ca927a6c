internal import CambiumLog
import CambiumModel

/// The policy, the checkpoint records that are kept, and the chunks (64 KiB of pages) that the kept checkpoints own. Call the methods only
/// while the lock `making` is held, except `readPolicy` and `replacePolicy`.
extension Checkpointer {
    /// Returns the policy in `store.json`.
    func readPolicy() throws -> CheckpointPolicy { CheckpointPolicy(try StoreSettings.read(volume)) }

    /// Sets the policy for later checkpoints, and writes it to `store.json`.
    func replacePolicy(_ policy: CheckpointPolicy) throws {
        // This method writes a new file, and renames it to `store.json`. If another thread made a checkpoint in the meantime, that thread
        // would remove the new file as the remains of an interrupted process.
        try whileNoneIsMade {
            try writer.lock.hold {
                try writer.checkOpen()
                var settings = try StoreSettings.read(volume)
                policy.apply(to: &settings)
                try settings.replace(in: volume)
            }
            self.policy = policy
        }
    }

    /// Removes the checkpoints that could not be used when the store was opened. They are no longer needed, because the new checkpoint
    /// `newest` can be used. A process that opened such a checkpoint while it was sound can still read the pages, because the process keeps
    /// their file open.
    ///
    /// If `newest` begins a new file of pages, all pages of `newest` were checked. In this case, the method also removes the file in which
    /// a process recorded that it had found corruption.
    func dropSkippedCheckpoints(except newest: TransactionNumber) throws {
        for number in skippedCheckpoints where number != newest {
            if try volume.exists(CheckpointRecord.path(number)) {
                try volume.remove(CheckpointRecord.path(number))
                hasUnsyncedRecords = true
            }
            kept[number] = nil
        }
        try syncRecords()
        skippedCheckpoints = []
        // The record of corruption is removed only if the checkpoint began a new file. A checkpoint in an existing file uses some of the
        // chunks of earlier checkpoints. If a process has found corruption, the next opening must check these chunks.
        if beginsFile { try PageFile.removeDamageMark(volume) }
        beginsFile = false
    }

    /// Drops the checkpoints that the policy does not keep, and returns their number. Keeps each checkpoint that a process is reading, the
    /// checkpoint that replaces the retired (removed) part of the log, and the moments of days.
    func dropCheckpoints() throws -> Int {
        let retiredEnd = try LogReader(volume).retiredEnd()
        let numbers = try CheckpointRecord.list(volume)
        let anchor = retiredEnd == .none ? nil : numbers.last { $0 >= retiredEnd }
        let moments = policy.dayCount > 0 ? policy.moments(of: try times(of: numbers)) : []
        let fixed = Set(numbers.prefix(tuning.newestCheckpointCount)).union(anchor.map { [$0] } ?? []).union(moments)
        var dropped: [TransactionNumber] = []
        var (retired, roots): ([Place], [Place]) = ([], [])
        for number in numbers.reversed() {
            if let anchor, number < anchor {
                // A compaction retired the log before the checkpoint `anchor`. It could not drop this older checkpoint if a process was
                // reading it.
                guard moments.contains(number), var root = try keptCheckpoint(number) else {
                    dropped.append(number)
                    continue
                }
                root.logByteCount = 0
                retired.append((number, root))
            } else if let root = try keptCheckpoint(number) {
                roots.append((number, root))
            } else if !fixed.contains(number) {
                // A checkpoint that cannot be read is useless.
                dropped.append(number)
            }
        }
        try measure(&roots)
        dropped += policy.dropped(from: retired + roots, pastByteCountMin: tuning.pastByteCountMin) { fixed.contains($0) }
        return try drop(dropped)
    }

    private typealias Place = (number: TransactionNumber, root: KeptCheckpoint)

    /// Returns the times of checkpoints, without those whose records are corrupt.
    private func times(of numbers: [TransactionNumber]) throws -> [(number: TransactionNumber, time: Int64)] {
        try numbers.compactMap { number in try keptCheckpoint(number).map { (number, $0.time) } }
    }

    /// Measures the log between each checkpoint and the preceding one, unless it was measured earlier.
    private func measure(_ roots: inout [(number: TransactionNumber, root: KeptCheckpoint)]) throws(CambiumError) {
        guard let first = roots.firstIndex(where: { $0.root.logByteCount == nil }) else { return }
        let begin = max(0, first - 1)
        let byteCounts = try LogDirectory.byteCounts(volume, upTo: roots[begin...].map(\.root.prefix))
        for place in first..<roots.count where roots[place].root.logByteCount == nil {
            let byteCount = max(0, byteCounts[place - begin] - (place == 0 ? 0 : byteCounts[place - begin - 1]))
            roots[place].root.logByteCount = byteCount
            kept[roots[place].number]?.logByteCount = byteCount
        }
    }

    /// Drops checkpoints that no process is reading, and returns their number. Call this method only while the lock `making` is held.
    package func drop(_ roots: [TransactionNumber]) throws -> Int {
        var droppedCount = 0
        for number in roots {
            guard try volume.removeUnlessShared(CheckpointRecord.path(number)) else { continue }
            hasUnsyncedRecords = true
            let gone = kept.removeValue(forKey: number)
            if let next = kept.keys.filter({ $0 > number }).min(), let before = kept[next]?.logByteCount {
                kept[next]?.logByteCount = gone?.logByteCount.map { $0 + before }
            }
            droppedCount += 1
        }
        try syncRecords()
        return droppedCount
    }

    /// Syncs the directory of the checkpoint records, if a record may have been removed or replaced since the last sync. Without the sync,
    /// an old record could reappear after a power failure, although its chunks already contain other pages.
    package func syncRecords() throws(CambiumError) {
        guard hasUnsyncedRecords else { return }
        try volume.syncDirectory(CheckpointRecord.directory)
        hasUnsyncedRecords = false
    }

    /// Returns the properties of a checkpoint, or `nil` if its record is corrupt.
    private func keptCheckpoint(_ number: TransactionNumber) throws -> KeptCheckpoint? {
        if let root = kept[number] { return root }
        guard let (record, byteCount) = try PageFile.root(volume, store: store, number) else { return nil }
        let root = KeptCheckpoint(record, recordByteCount: byteCount)
        kept[number] = root
        return root
    }

    /// Returns, for each chunk (64 KiB) of the file of pages, whether a checkpoint needs it. Returns `nil` if the record of a checkpoint is
    /// corrupt.
    func keptChunks() throws -> [Bool]? {
        var taken: [Bool] = []
        for number in try CheckpointRecord.list(volume) {
            guard let root = try keptCheckpoint(number) else { return nil }
            if root.pageFile != pageFile { continue }
            let has = root.chunks
            if taken.count < has.count { taken += repeatElement(false, count: has.count - taken.count) }
            for chunk in has.indices where has[chunk] { taken[chunk] = true }
        }
        return taken
    }
}

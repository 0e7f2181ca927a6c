package import CambiumLog
import CambiumModel

/// Determines which checkpoints are kept, so that an earlier moment can be read after a short replay.
///
/// The two newest checkpoints are kept. If compaction has retired (removed) a part of the log, the checkpoint that replaces this part is
/// kept, too. The limits decide how many other checkpoints are kept. If a limit is exceeded, the store drops the checkpoint whose removal
/// leaves the shortest piece of log between its neighbors.
///
/// A policy can keep one moment a day: the last checkpoint of each day. Such a moment can still be shown after a compaction has retired
/// the log around it. So a store can keep all changes of the last year, and a moment a day of the nine years before:
///
/// ```swift
/// try store.setCheckpointPolicy(CheckpointPolicy(countMax: 100, historyPercent: 50, dayCount: 3650))
/// try store.compact(.since(.time(lastYear)))
/// ```
public struct CheckpointPolicy: Sendable, Hashable {
    package var countMax: Int
    package var historyPercent: Int
    package var compression: Compression
    package var dayCount: Int

    /// The form in which a checkpoint stores pages.
    public enum Compression: Sendable, Hashable {
        /// Pages are stored as they are in memory. They are mapped from the file.
        case none
        /// Pages are stored in compressed chunks of 64 KiB. A chunk is decompressed when a page in it is first used. Compressed pages take
        /// about 60% of the disk space that they take with `none`, and additional memory for each chunk that is used.
        case lz4
    }

    /// Creates a policy. `Store.setCheckpointPolicy` throws `.invalidInput` for a `countMax` below 1, a negative
    /// `historyPercent`, or a `dayCount` outside of 0 to 36,525.
    ///
    /// - Parameters:
    ///   - countMax: The maximum number of checkpoints, including the newest ones. At least 1.
    ///   - historyPercent: The maximum disk space of the data that only checkpoints of earlier moments need, as a percentage of the size of
    ///     the newest checkpoint. The limit is at least 64 MiB, except that 0 keeps no checkpoints for earlier moments.
    ///   - compression: The form in which pages are stored. A change takes effect at the first checkpoint after the store is opened again.
    ///     That checkpoint stores all pages.
    ///   - dayCount: The number of days (in UTC), before the newest checkpoint, whose last checkpoints are kept, beyond the other limits.
    ///     On each day with a commit, the store then makes a checkpoint. 0, the default, keeps no checkpoint for its day.
    public init(countMax: Int = 32, historyPercent: Int = 100, compression: Compression = .none, dayCount: Int = 0) {
        self.countMax = countMax
        self.historyPercent = historyPercent
        self.compression = compression
        self.dayCount = dayCount
    }

    package static let dayCountMax = StoreSettings.keptDayCountMax

    package init(_ settings: StoreSettings) {
        self.init(
            countMax: settings.checkpointCountMax, historyPercent: settings.historyPercent,
            compression: settings.compressesPages ? .lz4 : .none, dayCount: settings.keptDayCount)
    }

    func apply(to settings: inout StoreSettings) {
        (settings.checkpointCountMax, settings.historyPercent, settings.compressesPages) = (countMax, historyPercent, compression == .lz4)
        settings.keptDayCount = dayCount
    }

    /// Throws `.invalidInput` if the policy is not valid.
    func check() throws(CambiumError) {
        guard countMax > 0, historyPercent >= 0, (0...Self.dayCountMax).contains(dayCount) else {
            throw CambiumError(
                .invalidInput,
                "The checkpoint policy has countMax \(countMax), historyPercent \(historyPercent) and dayCount \(dayCount). Use at least 1 "
                    + "for countMax, at least 0 for historyPercent, and 0 to \(Self.dayCountMax) for dayCount.")
        }
    }
}

extension CheckpointPolicy {
    private static let dayMicroseconds: Int64 = 86_400_000_000

    /// Returns the day of a time in microseconds since 1970, counted from 1970-01-01 in UTC.
    static func day(_ time: Int64) -> Int64 {
        let (day, rest) = time.quotientAndRemainder(dividingBy: dayMicroseconds)
        return rest < 0 ? day - 1 : day
    }

    /// Returns the first time, in microseconds since 1970, of the day after that of a time.
    static func end(ofDayOf time: Int64) -> Int64 {
        let (end, isTooMuch) = (day(time) + 1).multipliedReportingOverflow(by: dayMicroseconds)
        return isTooMuch ? .max : end
    }

    /// Returns the checkpoints that are kept as the moments of their days: the last ones of the days that the policy keeps.
    ///
    /// - Parameter times: The checkpoints, newest first, with their times in microseconds since 1970.
    package func moments(of times: [(number: TransactionNumber, time: Int64)]) -> Set<TransactionNumber> {
        guard dayCount > 0, let newest = times.first else { return [] }
        var (days, moments) = (Set<Int64>(), Set<TransactionNumber>())
        let begin = Self.day(newest.time) - Int64(dayCount)
        for (number, time) in times where Self.day(time) > begin && days.insert(Self.day(time)).inserted { moments.insert(number) }
        return moments
    }
}

/// A kept checkpoint, with the properties that determine the cost of keeping it.
struct KeptCheckpoint {
    let pageFile: UInt64
    /// For each chunk (64 KiB) of the file of pages, whether the checkpoint needs it.
    let chunks: [Bool]
    /// The chunks (64 KiB) whose bytes in the file differ from those in memory. These chunks are compressed, or contain a part of the
    /// checkpoint's table of chunks.
    let packed: Set<Int>
    /// The number of bytes of the checkpoint record.
    let recordByteCount: Int
    /// The part of the log that the checkpoint includes.
    let prefix: LogPrefix
    /// The time of the checkpoint's last transaction, in microseconds since 1970.
    let time: Int64
    /// The number of bytes of log between the preceding checkpoint and this checkpoint; `nil` if it has not been measured.
    var logByteCount: Int?
}

extension KeptCheckpoint {
    init(_ root: CheckpointRecord, recordByteCount: Int) {
        pageFile = root.pageFile
        chunks = root.chunks.map(\.isOwned)
        packed = Set(root.chunks.indices.filter { root.chunks[$0].packedByteCount > 0 || root.chunks[$0] == .table })
        self.recordByteCount = recordByteCount
        prefix = LogPrefix(root)
        time = root.time
    }
}

extension CheckpointPolicy {
    /// Returns the checkpoints to drop. Complexity: O(checkpoints x (checkpoints + chunks)).
    ///
    /// - Parameters:
    ///   - roots: the checkpoints in ascending order, each with the size of the log since the preceding one.
    ///   - isFixed: whether a checkpoint must stay, regardless of its cost.
    ///   - pastByteCountMin: the number of bytes that checkpoints for earlier moments may take even if the newest checkpoint is small. It
    ///     has no effect if `historyPercent` is 0.
    func dropped(
        from roots: [(number: TransactionNumber, root: KeptCheckpoint)], pastByteCountMin: Int, isFixed: (TransactionNumber) -> Bool
    ) -> [TransactionNumber] {
        var shares = ChunkShares()
        for (number, root) in roots { shares.add(root, isFixed: isFixed(number)) }
        let newestByteCount = (roots.last?.root.chunks.count { $0 } ?? 0) * PageFile.chunkByteCount
        let (percent, isTooMuch) = newestByteCount.multipliedReportingOverflow(by: historyPercent)
        let allowed = historyPercent == 0 ? 0 : max(pastByteCountMin, isTooMuch ? .max : percent / 100)
        var roots = roots
        var dropped: [TransactionNumber] = []
        while roots.count > countMax || shares.byteCount > allowed {
            // When a checkpoint is dropped, the log before it counts as a part of the next checkpoint's log. The newest checkpoint always
            // stays, so each candidate has a next checkpoint.
            let candidates = roots.indices.dropLast().filter { !isFixed(roots[$0].number) }
            guard let place = candidates.min(by: { gap(roots, without: $0) < gap(roots, without: $1) }) else { break }
            roots[place + 1].root.logByteCount = gap(roots, without: place)
            let gone = roots.remove(at: place)
            shares.remove(gone.root)
            dropped.append(gone.number)
        }
        return dropped
    }

    private func gap(_ roots: [(number: TransactionNumber, root: KeptCheckpoint)], without place: Int) -> Int {
        (roots[place].root.logByteCount ?? 0) + (roots[place + 1].root.logByteCount ?? 0)
    }
}

/// The disk space that becomes free if all checkpoints are dropped, except those that must stay (the fixed ones).
private struct ChunkShares {
    private(set) var byteCount = 0
    /// For each file, and each chunk (64 KiB) of it, the number of checkpoints that need the chunk. If one of these checkpoints must stay,
    /// the number is `fixed`, which no count reaches.
    private var counts: [UInt64: [Int32]] = [:]
    private static let fixed = Int32.max / 2

    mutating func add(_ root: KeptCheckpoint, isFixed: Bool) {
        var file = counts[root.pageFile] ?? []
        counts[root.pageFile] = nil
        if file.count < root.chunks.count { file += repeatElement(0, count: root.chunks.count - file.count) }
        for chunk in root.chunks.indices where root.chunks[chunk] {
            if isFixed {
                if (1..<Self.fixed).contains(file[chunk]) { byteCount -= PageFile.chunkByteCount }
                file[chunk] = Self.fixed
            } else {
                if file[chunk] == 0 { byteCount += PageFile.chunkByteCount }
                file[chunk] += 1
            }
        }
        if !isFixed { byteCount += root.recordByteCount }
        counts[root.pageFile] = file
    }

    mutating func remove(_ root: KeptCheckpoint) {
        guard var file = counts.removeValue(forKey: root.pageFile) else { return }
        for chunk in root.chunks.indices where root.chunks[chunk] && file[chunk] < Self.fixed {
            file[chunk] -= 1
            if file[chunk] == 0 { byteCount -= PageFile.chunkByteCount }
        }
        byteCount -= root.recordByteCount
        counts[root.pageFile] = file
    }
}

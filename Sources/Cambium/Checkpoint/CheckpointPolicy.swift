internal import CambiumLog
import CambiumModel

/// Which checkpoints are kept, so that a moment of the past is shown from one that is not long before it.
///
/// The newest two are, and the one that stands for what was retired. Of the others as many as may be: where they are too many, or take too
/// much, the one goes that leaves the shortest piece of log between its neighbours.
///
///     try store.setCheckpointPolicy(CheckpointPolicy(countMax: 100, pastPercent: 50))
public struct CheckpointPolicy: Sendable, Hashable {
    /// The most checkpoints, the newest ones included; 1 or more.
    public var countMax: Int
    /// What those may take of the disk that only moments of the past need: in percent of what the newest checkpoint takes, and 64 MiB at
    /// least. With 0 none is kept for them.
    public var pastPercent: Int
    /// How pages are stored. Another one than before begins with the first checkpoint after the store is opened again, which has all pages.
    public var compression: Compression

    public enum Compression: Sendable, Hashable {
        /// As they are in memory, where they are mapped.
        case none
        /// In chunks of 64 KiB, which are decompressed when they are touched first: about half as much disk, and as much memory as what is
        /// touched takes.
        case lz4
    }

    public init(countMax: Int = 32, pastPercent: Int = 100, compression: Compression = .none) {
        self.countMax = countMax
        self.pastPercent = pastPercent
        self.compression = compression
    }

    init(_ settings: StoreSettings) {
        self.init(
            countMax: settings.checkpointCountMax, pastPercent: settings.pastPercent, compression: settings.compressesPages ? .lz4 : .none)
    }

    func apply(to settings: inout StoreSettings) {
        (settings.checkpointCountMax, settings.pastPercent, settings.compressesPages) = (countMax, pastPercent, compression == .lz4)
    }

    /// Throws `.invalidInput` for a policy that cannot be.
    func check() throws(CambiumError) {
        guard countMax > 0, pastPercent >= 0 else {
            throw CambiumError(.invalidInput, "At least one checkpoint is kept, and those of the past take 0 percent or more.")
        }
    }
}

/// A checkpoint that is kept, and what it costs.
struct KeptRoot {
    let pageFile: UInt64
    /// For each chunk, whether it has it.
    let chunks: [Bool]
    /// Those whose bytes in the file are not those in memory: compressed ones, and those with the root's table.
    let packed: Set<Int>
    /// Of its record.
    let recordByteCount: Int
    /// What it stands for.
    let prefix: LogReader.Prefix
    /// Bytes of log between the checkpoint before it and this one; nil where that was not looked at yet.
    var logByteCount: Int?
}

extension KeptRoot {
    init(_ root: RootRecord, recordByteCount: Int) {
        pageFile = root.pageFile
        chunks = root.chunks.map(\.isOwned)
        packed = Set(root.chunks.indices.filter { root.chunks[$0].packedByteCount > 0 || root.chunks[$0] == .table })
        self.recordByteCount = recordByteCount
        prefix = LogReader.Prefix(root)
    }
}

extension CheckpointPolicy {
    /// Those that have to go. Complexity: O(checkpoints x chunks).
    ///
    /// - Parameters:
    ///   - roots: with their bytes of log, ascending.
    ///   - isFixed: whether one stays whatever it costs.
    ///   - pastByteCountMin: what those of the past may take however little the newest one has.
    func dropped(
        from roots: [(number: TransactionNumber, root: KeptRoot)], pastByteCountMin: Int, isFixed: (TransactionNumber) -> Bool
    ) -> [TransactionNumber] {
        var shares = ChunkShares()
        for (number, root) in roots { shares.add(root, isFixed: isFixed(number)) }
        let newestByteCount = (roots.last?.root.chunks.count { $0 } ?? 0) * PageFile.chunkByteCount
        let (percent, isTooMuch) = newestByteCount.multipliedReportingOverflow(by: pastPercent)
        let allowed = pastPercent == 0 ? 0 : max(pastByteCountMin, isTooMuch ? .max : percent / 100)
        var roots = roots
        var dropped: [TransactionNumber] = []
        while roots.count > countMax || shares.byteCount > allowed {
            // The gap that is left where one goes ends with the one behind it, and the newest one stays.
            let candidates = roots.indices.dropLast().filter { !isFixed(roots[$0].number) }
            guard let place = candidates.min(by: { gap(roots, without: $0) < gap(roots, without: $1) }) else { break }
            roots[place + 1].root.logByteCount = gap(roots, without: place)
            let gone = roots.remove(at: place)
            shares.remove(gone.root)
            dropped.append(gone.number)
        }
        return dropped
    }

    private func gap(_ roots: [(number: TransactionNumber, root: KeptRoot)], without place: Int) -> Int {
        (roots[place].root.logByteCount ?? 0) + (roots[place + 1].root.logByteCount ?? 0)
    }
}

/// What only the checkpoints take that may go.
private struct ChunkShares {
    private(set) var byteCount = 0
    /// For each chunk of a file, how many have it; more than there can be where one has it that stays.
    private var counts: [UInt64: [Int32]] = [:]
    private static let fixed = Int32.max / 2

    mutating func add(_ root: KeptRoot, isFixed: Bool) {
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

    mutating func remove(_ root: KeptRoot) {
        guard var file = counts.removeValue(forKey: root.pageFile) else { return }
        for chunk in root.chunks.indices where root.chunks[chunk] && file[chunk] < Self.fixed {
            file[chunk] -= 1
            if file[chunk] == 0 { byteCount -= PageFile.chunkByteCount }
        }
        byteCount -= root.recordByteCount
        counts[root.pageFile] = file
    }
}

import Cambium
import CambiumModel
import CambiumTesting
import TestFixtures

@testable import CambiumLog
@testable import CambiumStore

/// A state in which a reader may find the touch index of a store.
enum TouchState: CaseIterable {
    /// The index ends with the newest checkpoint.
    case complete
    /// The index covers an older part of the log, or no part.
    case left
    case missing
    /// A bit of a file is wrong.
    case flipped
    case truncated
    /// A part is missing.
    case incomplete
    /// The index names transactions that did not change an object. All checksums are right.
    case excessive

    /// Brings the index on a volume to this state.
    func prepare(_ volume: MemoryVolume, _ random: inout SplitMix64) throws {
        if self != .left { try TouchBuilder.complete(volume) }
        guard let name = try volume.list(TouchPart.directory).shuffled(using: &random).first else { return }
        let path = TouchPart.directory + "/" + name
        switch self {
        case .complete, .left: return
        case .missing: for name in try volume.list(TouchPart.directory) { try volume.remove(TouchPart.directory + "/" + name) }
        case .incomplete: try volume.remove(path)
        case .flipped:
            var bytes = try volume.bytes(of: path)
            guard let place = bytes.indices.randomElement(using: &random) else { return }
            bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            try volume.replace(path, bytes)
        case .truncated:
            let bytes = try volume.bytes(of: path)
            try volume.replace(path, Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &random))))
        case .excessive:
            try forge(volume, &random) { set, ids, range, random in
                for id in ids {
                    set.track(
                        id, TransactionNumber(rawValue: .random(in: range.lowerBound.rawValue...range.upperBound.rawValue, using: &random)))
                }
            }
        }
    }

    /// Replaces the index with a changed one whose checksums and hashes are right.
    private func forge(
        _ volume: MemoryVolume, _ random: inout SplitMix64,
        _ change: (inout TouchSet, [ObjectID], ClosedRange<TransactionNumber>, inout SplitMix64) -> Void
    ) throws {
        let reader = try LogReader(volume)
        guard let index = try TouchIndex.read(reader) else { return }
        var set = TouchSet()
        for part in index.parts.reversed() { _ = try part.add(to: &set, volume) }
        let range = index.first...index.last
        let ids = Set(set.touches.map { ObjectID(root: EntityNumber(rawValue: $0.root), serial: $0.serial) }).sorted()
        change(&set, ids, range, &random)
        let last = index.parts[index.parts.count - 1]
        let bytes = TouchPart.encode(
            set, store: reader.settings.store, range, treeRoot: last.treeRoot, previous: TouchPart.noHash)
        try TouchIndex.replace(volume, (TouchPart.path(range.lowerBound, range.upperBound), bytes), keeping: [])
    }
}

extension TouchBuilder {
    /// Extends the index of a store that no process has open up to its newest checkpoint.
    static func complete(_ volume: MemoryVolume, touchPartCountMax: Int = 1 << 21) throws {
        var tuning = LogTuning.tiny
        (tuning.touchedTransactionCountMin, tuning.touchPartCountMax) = (1, touchPartCountMax)
        try TouchBuilder(volume: volume, memory: .standard, tuning: tuning, check: {}, writing: { try $0() }).extend()
    }
}

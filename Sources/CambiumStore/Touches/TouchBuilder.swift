internal import CambiumBytes
import CambiumGraph
internal import CambiumLog
import CambiumModel

/// Extends the touch index of a store from a replay of its log. See Docs/Formats/TOUCHES.md.
///
/// Only the process that writes to the store uses a builder. Commits continue at the same time.
struct TouchBuilder {
    let volume: any Volume
    let memory: MemoryBudget
    let tuning: LogTuning
    /// Throws if the store was closed in the meantime.
    let check: () throws -> Void
    /// Calls a closure that writes files, while no other process can have the store open. Throws if the store was closed.
    let writing: (() throws -> Void) throws -> Void

    /// The number of transactions between two calls of `check`.
    private static let checkedCount: UInt64 = 1024
    /// A part with fewer touches is always merged with the next one.
    private static let mergedCountMin = 4096

    /// Extends the index up to the newest checkpoint, if enough transactions are not in it.
    ///
    /// Throws `.corrupted` if the log cannot be replayed, and `.ioFailure` if a disk operation fails. The index then stays as it was.
    /// Complexity: O(bytes of the log after the index + touches of the parts that are merged).
    ///
    /// - Parameter countMax: The maximum number of transactions. If more are not in the index, nothing is done.
    func extend(countMax: UInt64 = .max) throws {
        let reader = try LogReader(volume)
        let oldest = try oldest(reader)
        var index = try TouchIndex.read(reader)
        // A compaction may have retired transactions that the index does not cover yet. They can no longer be read.
        if let own = index, own.first > oldest || own.last.next < oldest { index = nil }
        let covered = index?.last.rawValue ?? oldest.rawValue - 1
        guard let target = try CheckpointRecord.list(volume).first, target.rawValue > covered,
            target.rawValue - covered >= tuning.touchedTransactionCountMin, target.rawValue - covered <= countMax,
            let tree = try TouchIndex.tree(volume, store: reader.settings.store, target)
        else { return }
        var parts = index?.parts ?? []
        var first = TransactionNumber(rawValue: covered + 1)
        var set = TouchSet()
        var view =
            covered == 0
            ? try EarlierView(beforeFirst: reader, memory: memory)
            : try EarlierView(reader, at: EarlierMoment(number: TransactionNumber(rawValue: covered)), memory: memory)
        try view.advance(reader, notingObjectsThrough: target) { number, objects, changesSchema in
            if number.rawValue % Self.checkedCount == 0 { try check() }
            set.track(objects, number, changesSchema: changesSchema)
            if set.entryCount >= tuning.touchPartCountMax, number < target {
                // The part that follows has the root of a tree, so this part needs none.
                parts = try write(set, reader, first...number, treeRoot: TouchPart.noHash, after: parts)
                (set, first) = (TouchSet(), number.next)
            }
        }
        _ = try write(set, reader, first...target, treeRoot: tree, after: parts)
    }

    /// Returns the oldest transaction whose changes the log has.
    private func oldest(_ reader: LogReader) throws -> TransactionNumber {
        let retiredEnd = try reader.retiredEnd()
        if retiredEnd == .none { return TransactionNumber(rawValue: 1) }
        return (try CheckpointRecord.list(volume).last { $0 >= retiredEnd } ?? retiredEnd).next
    }

    /// Merges a set of touches with preceding parts, writes the result, and returns all parts.
    private func write(
        _ set: TouchSet, _ reader: LogReader, _ range: ClosedRange<TransactionNumber>, treeRoot: [UInt8], after parts: [TouchPart]
    ) throws -> [TouchPart] {
        var (set, parts, first) = (set, parts, range.lowerBound)
        while let before = parts.last, before.touchCount <= max(Self.mergedCountMin, 2 * set.touchCount),
            before.touchCount + set.touchCount <= tuning.touchPartCountMax
        {
            // If the preceding part is corrupt, all parts must be made again. They are not used without it.
            guard try before.add(to: &set, volume) else {
                try writing { try TouchIndex.remove(volume) }
                throw CambiumError(.corrupted, "A part of the touch index is corrupt.", place: .init(file: before.path))
            }
            first = before.first
            parts.removeLast()
        }
        let store = reader.settings.store
        let range = first...range.upperBound
        let bytes = TouchPart.encode(set, store: store, range, treeRoot: treeRoot, previous: parts.last?.hash ?? TouchPart.noHash)
        try writing { try TouchIndex.replace(volume, (TouchPart.path(range.lowerBound, range.upperBound), bytes), keeping: parts) }
        guard let written = try TouchPart.read(volume, store: store, range) else {
            throw CambiumError(.ioFailure, "The touch index that was just written cannot be read. Check the disk.")
        }
        return parts + [written]
    }
}

extension TouchSet {
    /// Records what a replayed transaction may have changed.
    package mutating func track(_ touches: TransactionTouches, _ number: TransactionNumber, changesSchema: Bool) {
        if changesSchema { trackSchema(number) }
        switch touches {
        case .named(let ids): for id in ids { track(id, number) }
        case .changes(let changes): track(changes.lazy.map(\.id), number)
        }
    }
}

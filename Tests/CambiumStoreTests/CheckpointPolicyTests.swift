import Cambium
import CambiumTesting
import Foundation
import TestFixtures
import Testing

@testable import CambiumGraph
@testable import CambiumLog
@testable import CambiumStore

@Suite struct CheckpointPolicyTests {
    private typealias Root = (number: TransactionNumber, root: KeptCheckpoint)

    /// Makes a checkpoint with the chunks of a range, and with `log` bytes of log before it.
    private func root(_ number: Int, _ chunks: Range<Int>, log: Int = 100, record: Int = 0, file: UInt64 = 1) -> Root {
        let has = (0..<chunks.upperBound).map { chunks.contains($0) }
        let transaction = TransactionNumber(rawValue: UInt64(number))
        return (
            transaction,
            KeptCheckpoint(
                pageFile: file, chunks: has, packed: [], recordByteCount: record,
                prefix: LogPrefix(transaction: transaction, time: 0, position: LogPosition(checksum: 0)), time: 0, logByteCount: log)
        )
    }

    private func dropped(_ policy: CheckpointPolicy, _ roots: [Root], fixed: Set<UInt64>, min: Int = 0) -> [UInt64] {
        policy.dropped(from: roots, pastByteCountMin: min) { fixed.contains($0.rawValue) }.map(\.rawValue)
    }

    @Test(arguments: [4, 8, 32, 33])
    func `the gaps between checkpoints have about the same length, however long the log gets`(countMax: Int) {
        var roots: [Root] = []
        for number in 1...1000 {
            roots.append(root(number, 0..<1, log: 1))
            let gone = dropped(CheckpointPolicy(countMax: countMax), roots, fixed: [UInt64(number), UInt64(number) - 1], min: .max)
            for number in gone {
                guard let place = roots.firstIndex(where: { $0.number.rawValue == number }) else { continue }
                roots[place + 1].root.logByteCount = (roots[place + 1].root.logByteCount ?? 0) + (roots[place].root.logByteCount ?? 0)
                roots.remove(at: place)
            }
            let gaps = roots.map { $0.root.logByteCount ?? 0 }
            #expect(roots.count == min(number, countMax) && gaps.reduce(0, +) == number)
            // The newest two checkpoints stay where they are.
            let even = Double(number) / Double(max(1, roots.count - 2))
            #expect(Double(gaps.max() ?? 0) <= 3 * even + 1, "\(number) in \(gaps)")
        }
    }

    @Test func `the disk space for earlier moments is limited, and each chunk counts once`() {
        let chunk = 65_536
        // Each checkpoint has ten chunks, five of which belong to the one before as well.
        let roots = (1...8).map { root($0, $0 * 5..<$0 * 5 + 10, record: 100) }
        // The last two checkpoints have chunks 35 to 49, so only the others need chunks 5 to 34.
        let needed = 30 * chunk + 600
        #expect(dropped(CheckpointPolicy(), roots, fixed: [7, 8], min: needed) == [])
        #expect(dropped(CheckpointPolicy(), roots, fixed: [7, 8], min: needed - 1) == [1])
        #expect(dropped(CheckpointPolicy(historyPercent: 101), roots, fixed: [7, 8]) == [1, 3, 5, 6, 2])
        #expect(dropped(CheckpointPolicy(historyPercent: 311), roots, fixed: [7, 8]) == [])
        #expect(dropped(CheckpointPolicy(historyPercent: 0), roots, fixed: [7, 8], min: needed).sorted() == [1, 2, 3, 4, 5, 6])
        #expect(dropped(CheckpointPolicy(historyPercent: .max), roots, fixed: [7, 8]) == [])
        // If the last two are in another file, the others need all of their chunks for themselves.
        let other = roots.dropLast(2) + [root(7, 35..<45, file: 2), root(8, 40..<50, file: 2)]
        #expect(dropped(CheckpointPolicy(), Array(other), fixed: [7, 8], min: 35 * chunk + 600) == [])
        #expect(dropped(CheckpointPolicy(), Array(other), fixed: [7, 8], min: 35 * chunk) == [1])
    }

    @Test func `the policy drops the checkpoint that leaves the shortest gap, and never a fixed one`() {
        let roots = zip(1..., [50, 3, 80, 40, 4, 5, 60]).map { root($0, 0..<1, log: $1) }
        #expect(dropped(CheckpointPolicy(countMax: 6), roots, fixed: [6, 7]) == [5])
        #expect(dropped(CheckpointPolicy(countMax: 4), roots, fixed: [6, 7]) == [5, 4, 1])
        #expect(dropped(CheckpointPolicy(countMax: 1), roots, fixed: [2, 6, 7]) == [5, 4, 1, 3])
    }

    // MARK: In a store

    private func add(_ store: Store, _ number: Int) throws {
        try store.write { try $0.insert("Note", ["id": .int(Int64(number)), "title": .string("note \(number)")]) }
    }

    private func count(_ volume: any Volume) throws -> Int { try CheckpointRecord.list(volume).count }

    @Test(.enabled(if: LongTests.areWanted))
    func `the log between a moment and the checkpoint before it is a small part of the whole log`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try store.setCheckpointPolicy(CheckpointPolicy(countMax: 10))
        for number in 0..<400 {
            try add(store, number)
            if number % 5 == 0 { try store.checkpoint() }
        }
        #expect(try count(volume) == 10)
        var most = 0
        for number in 1...401 as ClosedRange<UInt64> {
            let view = try ReadOnlyStore(volume, point: .transaction(TransactionNumber(rawValue: number)))
            most = max(most, view.recovery.transactionCount)
        }
        #expect(most <= 3 * 401 / 8, "\(most) transactions were replayed")
    }

    @Test func `the policy is stored in the settings and followed from then on, even after reopening`() throws {
        let volume = MemoryVolume()
        do {
            let store = try Store.notes(volume)
            #expect(try store.checkpointPolicy() == CheckpointPolicy(countMax: 32, historyPercent: 100))
            for number in 0..<40 {
                try add(store, number)
                try store.checkpoint()
            }
            #expect(try count(volume) == 32)
            try store.setCheckpointPolicy(CheckpointPolicy(countMax: 5, historyPercent: 50))
            try add(store, 100)
            #expect(try store.checkpoint().droppedCount == 28 && count(volume) == 5)
            try store.close()
        }
        // Readers no longer have graphs for which a checkpoint would stay.
        let again = try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: 3))
        #expect(try again.checkpointPolicy() == CheckpointPolicy(countMax: 5, historyPercent: 50))
        for number in 200..<205 {
            try add(again, number)
            try again.checkpoint()
        }
        #expect(try count(volume) == 5)
        try again.setCheckpointPolicy(CheckpointPolicy(historyPercent: 0))
        try add(again, 300)
        try again.checkpoint()
        #expect(try count(volume) == 2)
        #expect(code { try again.setCheckpointPolicy(CheckpointPolicy(countMax: 0)) } == .invalidInput)
        #expect(code { try again.setCheckpointPolicy(CheckpointPolicy(historyPercent: -1)) } == .invalidInput)
        #expect(code { try Store.inMemory(schema: Notes.schema).setCheckpointPolicy(CheckpointPolicy()) } == .invalidInput)
        try again.close()
        #expect(code { try again.setCheckpointPolicy(CheckpointPolicy()) } == .notWritable)
        #expect(try Verification(volume).isSound)
    }

    @Test func `settings change as a whole, even in a crash`() throws {
        let made = MemoryVolume()
        try Store.notes(made).close()
        func change(_ volume: any Volume) throws {
            let store = try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: 3))
            defer { store.abandon() }
            try store.setCheckpointPolicy(CheckpointPolicy(countMax: 7))
        }
        let measured = FaultyVolume(contents: made.contents)
        try change(measured)
        for operation in 0...measured.operationCount {
            let volume = FaultyVolume(contents: made.contents)
            volume.crash(at: operation)
            let isDone = code { try change(volume) } == nil
            for seed in 0..<6 as Range<UInt64> {
                let disk = MemoryVolume(contents: volume.image(seed: seed))
                let store = try Store.open(disk, durability: nil, environment: fixedEnvironment(seed: 4))
                let countMax = try store.checkpointPolicy().countMax
                #expect(countMax == 7 || !isDone && countMax == 32, "operation \(operation), seed \(seed)")
                try store.setCheckpointPolicy(CheckpointPolicy(countMax: 9))
                try store.close()
            }
        }
    }
}

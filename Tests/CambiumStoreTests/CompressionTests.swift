import Cambium
import CambiumTesting
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import CambiumGraph
@testable import CambiumLog
@testable import CambiumStore

/// Checkpoints whose chunks are compressed.
@Suite final class CompressionTests {
    /// The seed of the last opening. Each opening has its own random bytes, because they name the files of pages.
    private let seed = Atomic<UInt64>(10)

    private func create(_ volume: any Volume, compression: CheckpointPolicy.Compression = .lz4) throws -> Store {
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment())
        try store.setCheckpointPolicy(CheckpointPolicy(compression: compression))
        try store.close()
        return try reopen(volume)
    }

    private func reopen(_ volume: any Volume, memory: MemoryBudget = .standard) throws -> Store {
        let environment = fixedEnvironment(seed: seed.add(1, ordering: .relaxed).newValue)
        return try Store.open(volume, durability: nil, environment: environment, memory: memory)
    }

    private func add(_ store: Store, _ numbers: Range<Int>) throws {
        try store.write { transaction in
            for number in numbers {
                let note = try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string("the note with number \(number)")])
                try transaction.link(note, "memos", transaction.insert("Memo", ["text": .string("memo \(number)")]))
            }
        }
    }

    private func thin(_ store: Store) throws {
        let graph = store.graph
        let note = try store.schema.required("Note")
        let doomed = graph.objects(of: note).enumerated().filter { $0.offset % 3 > 0 }.map(\.element)
        try store.write { try $0.delete(doomed) }
    }

    private func newestRoot(_ volume: any Volume) throws -> CheckpointRecord {
        let number = try #require(try CheckpointRecord.list(volume).first)
        return try #require(try PageFile.root(volume, store: StoreSettings.read(volume).store, number)).record
    }

    private func withDirectory(_ body: (SystemVolume) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "cambium-lz4-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let volume = SystemVolume(root: directory)
        try volume.createDirectory("")
        try body(volume)
    }

    // MARK: Results

    @Test(.enabled(if: LongTests.areWanted)) func `compressed pages take less disk space and open to the same graph`() throws {
        var byteCounts: [Int] = []
        for compression in [CheckpointPolicy.Compression.none, .lz4] {
            try withDirectory { volume in
                let store = try create(volume, compression: compression)
                try add(store, 0..<4000)
                try store.checkpoint()
                byteCounts.append(try PageFile.byteCount(volume))
                try store.close()
                let root = try newestRoot(volume)
                #expect(root.isPacked == (compression == .lz4))
                #expect(root.chunks.contains { $0.packedByteCount > 0 } == (compression == .lz4))
                let again = try reopen(volume)
                #expect(again.recovery.transactionCount == 0 && again.recovery.notes == [])
                #expect(again.graph.digest() == store.graph.digest() && again.graph.export == store.graph.export)
                #expect(again.pageFindings == [])
                try add(again, 5000..<5500)
                try again.checkpoint()
                try again.close()
                #expect(try Verification(volume).isSound)
                #expect(try reopen(volume).graph.digest() == again.graph.digest())
            }
        }
        #expect(byteCounts[1] < byteCounts[0] * 2 / 3, "\(byteCounts)")
    }

    @Test func `turning compression on or off stores all pages anew, and earlier moments can still be shown`() throws {
        let volume = MemoryVolume()
        var store = try create(volume, compression: .none)
        var digests: [TransactionNumber: GraphDigest] = [:]
        for (round, compression) in [CheckpointPolicy.Compression.none, .lz4, .none, .lz4].enumerated() {
            try store.setCheckpointPolicy(CheckpointPolicy(compression: compression))
            try store.close()
            store = try reopen(volume)
            if round != 2 { try add(store, round * 500..<(round + 1) * 500) }
            try store.checkpoint()
            #expect(try newestRoot(volume).isPacked == (compression == .lz4))
            digests[store.graph.transaction] = store.graph.digest()
        }
        for (number, digest) in digests {
            #expect(try ReadOnlyStore(volume, point: .transaction(number)).graph.digest() == digest)
        }
        try store.compact(.checkpoints(1))
        #expect(volume.contents.keys.filter { $0.hasPrefix("pages-") }.count == 1)
        #expect(try Verification(volume).isSound)
    }

    @Test(arguments: [InterruptedVolume.Moment.afterSharing, .beforeOpeningPages])
    func `a reader shares the record that it reads, even if a writer replaces the record at that moment`(
        moment: InterruptedVolume.Moment
    ) throws {
        try withDirectory { volume in
            let store = try create(volume, compression: .none)
            try add(store, 0..<100)
            try store.checkpoint()
            try store.setCheckpointPolicy(CheckpointPolicy(compression: .lz4))
            try store.close()
            let old = try newestRoot(volume)
            let writer = try reopen(volume)
            let reader = try ReadOnlyStore(InterruptedVolume(volume, moment) { try writer.checkpoint() })
            #expect(try newestRoot(volume).transaction == old.transaction && newestRoot(volume).pageFile != old.pageFile)
            #expect(reader.recovery.checkpoint == old.transaction)
            #expect(try volume.isShared(CheckpointRecord.path(old.transaction)))
            #expect(reader.graph.digest() == writer.graph.digest())
            try writer.close()
        }
    }

    @Test(.enabled(if: LongTests.areWanted))
    func `with a small memory budget or none, a store with compressed pages stays sound`() throws {
        try withDirectory { volume in
            let store = try create(volume)
            try add(store, 0..<3000)
            let memory = MemoryBudget(byteCount: 1 << 20)
            try store.close()
            let small = try reopen(volume, memory: memory)
            let note = try small.schema.required("Note")
            for round in 0..<6 {
                try add(small, 10_000 * (round + 1)..<10_000 * (round + 1) + 1500)
                try small.checkpoint()
                try thin(small)
                try small.checkpoint()
                #expect(small.graph.invariantFindings() == [] && small.pageFindings == [])
            }
            #expect(memory.usedByteCount <= memory.byteCount + 262_144)
            #expect(small.graph.objects(of: note).contains { _ in true })
            try small.close()
            let none = try reopen(volume, memory: MemoryBudget(byteCount: 0))
            #expect(none.graph.digest() == small.graph.digest() && none.graph.invariantFindings() == [])
            try none.close()
            #expect(try Verification(volume).isSound)
        }
    }

    @Test func `a backup of a compressed store is compressed and opens to the same graph`() throws {
        try withDirectory { volume in
            let store = try create(volume)
            try add(store, 0..<2000)
            try store.checkpoint()
            try add(store, 2000..<2100)
            try withDirectory { target in
                _ = try Backup(volume, to: target)
                #expect(try newestRoot(target).chunks.contains { $0.packedByteCount > 0 })
                let copy = try reopen(target)
                #expect(copy.graph.digest() == store.graph.digest() && copy.recovery.checkpoint.rawValue == 2)
                try copy.close()
                #expect(try Verification(target).isSound)
            }
        }
    }

    // MARK: Interruptions and corruption

    @Test func `a corrupt compressed chunk is skipped like any other`() throws {
        let volume = MemoryVolume()
        let store = try create(volume)
        try add(store, 0..<300)
        try store.checkpoint()
        try store.close()
        let root = try newestRoot(volume)
        let path = PageFile.path(root.pageFile)
        let packed = root.chunks.indices.filter { root.chunks[$0].packedByteCount > 0 }
        #expect(!packed.isEmpty)
        var noteCount = 0
        for chunk in packed {
            for place in [0, Int(root.chunks[chunk].packedByteCount) / 2, Int(root.chunks[chunk].packedByteCount) - 1] {
                var contents = volume.contents
                contents[path]?[chunk * PageFile.chunkByteCount + place] ^= 0x41
                let corrupted = MemoryVolume(contents: contents)
                let again = try reopen(corrupted)
                // A changed distance of a match between equal bytes has no effect, and then there is nothing to note.
                noteCount += again.recovery.notes.count
                #expect(again.recovery.notes.count <= 1 && again.graph.digest() == store.graph.digest(), "chunk \(chunk) at \(place)")
                try again.checkpoint()
                try again.close()
                #expect(try reopen(corrupted).recovery.notes == [])
            }
        }
        #expect(noteCount > packed.count)
    }

    @Test func `a crash while pages are stored in another form leaves the old pages or the new pages`() throws {
        func prepared(_ volume: any Volume) throws -> Store {
            var store = try create(volume, compression: .none)
            try add(store, 0..<100)
            try store.checkpoint()
            try store.setCheckpointPolicy(CheckpointPolicy(compression: .lz4))
            try store.close()
            store = try reopen(volume)
            return store
        }
        let measured = FaultyVolume()
        let first = try prepared(measured)
        let begun = measured.operationCount
        try first.checkpoint()
        let digest = first.graph.digest()
        for operation in begun..<measured.operationCount {
            let disk = FaultyVolume()
            let store = try prepared(disk)
            disk.crash(at: operation)
            #expect(throws: (any Error).self) { try store.checkpoint() }
            store.abandon()
            let image = MemoryVolume(contents: disk.image(seed: UInt64(operation)))
            let again = try reopen(image)
            #expect(again.graph.digest() == digest && again.recovery.transactionCount == 0, "operation \(operation)")
            try again.checkpoint()
            try again.close()
            #expect(try newestRoot(image).isPacked && Verification(image).isSound, "operation \(operation)")
        }
    }
}

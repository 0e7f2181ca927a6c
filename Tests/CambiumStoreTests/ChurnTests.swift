import Cambium
import CambiumTesting
import Foundation
import TestFixtures
import Testing

@testable import CambiumGraph
@testable import CambiumLog

/// Stores with many insertions and deletions take only the space of the objects that remain.
@Suite struct ChurnTests {
    private func add(_ store: Store, _ numbers: Range<Int>) throws {
        try store.write { transaction in
            for number in numbers {
                let note = try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string("the note with number \(number)")])
                try transaction.link(note, "memos", transaction.insert("Memo", ["text": .string("memo \(number)")]))
                let item = try transaction.insert("Item", ["key": .string("item \(number)")])
                try transaction.link(note, "items", item)
            }
        }
    }

    /// Deletes all notes except one in a hundred, and everything that they own.
    private func thin(_ store: Store) throws {
        let graph = store.graph
        let note = try store.schema.required("Note")
        let id = try note.requiredAttribute("id")
        let doomed = graph.objects(of: note).filter { object in
            guard case .int(let number)? = graph.value(of: id, of: object) else { return true }
            return number * 7919 % 100 != 0
        }
        try store.write { try $0.delete(doomed) }
    }

    @Test(.enabled(if: LongTests.areWanted))
    func `twenty generations of which one object in a hundred survives keep neither memory nor disk space`() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "cambium-churn-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let volume = SystemVolume(root: directory)
        try volume.createDirectory("")
        var tuning = LogTuning.standard
        (tuning.newestCheckpointCount, tuning.pastByteCountMin) = (2, 0)
        // The number of pages after a generation would depend on the moment at which a background checkpoint froze them.
        tuning.checkpointsInBackground = false
        let memory = MemoryBudget(byteCount: 512 << 10)
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .buffered(every: .seconds(3600)), environment: fixedEnvironment(), tuning: tuning,
            memory: memory)
        try store.setCheckpointPolicy(CheckpointPolicy(countMax: 2, historyPercent: 0))
        var pages: [Int] = []
        var disk: [Int] = []
        for generation in 0..<20 {
            try add(store, generation * 2000..<(generation + 1) * 2000)
            try store.checkpoint()
            try thin(store)
            try store.compact(.checkpoints(1))
            pages.append(store.memory.pageByteCount)
            disk.append(try PageFile.byteCount(volume))
            #expect(memory.usedByteCount <= memory.byteCount + 65_536)
        }
        #expect(store.graph.objectCount == 3 * 400)
        #expect(store.pageFindings == [] && store.graph.invariantFindings() == [])
        // 1200 objects take about 110 KB in a store that never had others.
        #expect(pages.allSatisfy { $0 < 450_000 }, "\(pages)")
        // The twentieth generation needs no more disk space than the second one, up to 1 MiB.
        #expect(disk[19] < disk[1] + (1 << 20), "\(disk)")
        let digest = store.graph.digest()
        try store.close()
        #expect(try Store.open(volume, durability: nil, tuning: tuning).graph.digest() == digest)
        #expect(try Verification(volume).isSound)
    }

    /// Returns the bytes of disk that all files of a store take.
    private func diskByteCount(_ directory: String) throws -> Int {
        let files = try #require(FileManager.default.enumerator(atPath: directory))
        return try files.reduce(0) { sum, name in
            var status = stat()
            let path = directory + "/" + (try #require(name as? String))
            try #require(lstat(path, &status) == 0)
            return status.st_mode & S_IFMT == S_IFREG ? sum + 512 * Int(status.st_blocks) : sum
        }
    }

    @Test(.enabled(if: LongTests.areWanted))
    func `after a hundred generations and a compaction, the disk holds little more than the live pages`() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "cambium-churn-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let store = try Store.create(
            at: directory, schema: Notes.schema, durability: .buffered(every: .seconds(3600)), environment: fixedEnvironment())
        for generation in 0..<100 {
            try add(store, generation * 2000..<(generation + 1) * 2000)
            try thin(store)
        }
        _ = try store.compact(.checkpoints(1))
        #expect(store.graph.objectCount == 3 * 2000 && store.pageFindings == [])
        let (pages, disk) = (store.memory.pageByteCount, try diskByteCount(directory))
        print("churn: \(pages) bytes of live pages, \(disk) bytes on disk")
        #expect(Double(disk) <= 1.3 * Double(pages) + Double(1 << 20), "\(pages) bytes of live pages, \(disk) bytes on disk")
        try store.close()
        #expect(try Verification(SystemVolume(root: directory)).isSound)
    }
}

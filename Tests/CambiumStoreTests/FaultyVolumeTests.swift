import Cambium
import CambiumGraph
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

/// The simulated disk on which tests rely does what a real disk may do.
@Suite struct FaultyVolumeTests {
    /// Returns the files that remain after a power failure, for `count` seeds.
    private func images(_ volume: FaultyVolume, _ count: UInt64 = 300) -> [[String: [UInt8]]] {
        (0..<count).map { volume.image(seed: $0) }
    }

    private func made(_ bytes: [UInt8]) throws -> (FaultyVolume, any VolumeFile) {
        let volume = FaultyVolume()
        let file = try volume.open("file", .create)
        try file.write(bytes, at: 0)
        try file.sync()
        try volume.syncDirectory("")
        return (volume, file)
    }

    @Test func `synced data survives every power failure`() throws {
        let (volume, file) = try made([1, 2, 3])
        #expect(images(volume).allSatisfy { $0 == ["file": [1, 2, 3]] })
        try file.truncate(to: 2)
        try file.sync()
        try volume.rename("file", to: "other")
        try volume.syncDirectory("")
        #expect(images(volume).allSatisfy { $0 == ["other": [1, 2]] })
    }

    @Test func `unsynced writes survive whole, in part, as zeros or not at all, in any order`() throws {
        let (volume, file) = try made([0, 0])
        try file.write([1, 1, 1, 1], at: 2)
        try file.write([2, 2, 2, 2], at: 6)
        try file.write([3, 3], at: 0)
        let found = Set(images(volume, 2000).compactMap { $0["file"] })
        let expected: [[UInt8]] = [
            [0, 0], [3, 3], [3, 0], [0, 3], [0, 0, 1, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1, 1, 0, 2, 2, 2, 2], [0, 0, 0, 0, 0, 0],
            [0, 0, 0, 0, 0, 0, 2, 2, 2, 2], [3, 3, 1, 1, 1, 1, 2, 2, 2, 2], [0, 0, 1, 1, 1, 1, 0, 0, 0, 0],
        ]
        for bytes in expected { #expect(found.contains(bytes), "\(bytes)") }
        // Every byte is either zero or the last one that was written there.
        #expect(found.allSatisfy { $0.enumerated().allSatisfy { $1 == 0 || $1 == [3, 3, 1, 1, 1, 1, 2, 2, 2, 2][$0] } })
    }

    @Test func `a power failure keeps or drops unsynced entries, and a renamed file may lack unsynced bytes`() throws {
        let volume = FaultyVolume(contents: ["file": [1]])
        let file = try volume.open("file.new", .create)
        try file.write([2, 2], at: 0)
        try volume.rename("file.new", to: "file")
        let found = Set(images(volume))
        let expected: [[String: [UInt8]]] = [
            ["file": [1]], ["file": []], ["file": [2, 2]], ["file": [2]], ["file": [1], "file.new": [2, 2]],
        ]
        for expected in expected {
            #expect(found.contains(expected), "\(expected)")
        }
        try volume.syncDirectory("")
        #expect(images(volume).allSatisfy { $0["file.new"] == nil && $0["file"] != [1] })
        try volume.remove("file")
        #expect(Set(images(volume).map(\.isEmpty)) == [true, false])
        // A sync of another directory does not include these entries.
        try volume.syncDirectory("log")
        #expect(Set(images(volume).map(\.isEmpty)) == [true, false])
        try volume.syncDirectory("")
        #expect(images(volume).allSatisfy { $0.isEmpty })
    }

    @Test func `a failed sync may lose writes for good, even if a later sync succeeds`() throws {
        var lossCount = 0
        for operations in 0..<10 {
            let (volume, file) = try made([])
            // The number of operations determines which bytes a failed sync leaves.
            for _ in 0..<operations { try file.sync() }
            volume.fail(at: volume.operationCount + 1, with: 5)
            try file.write([1, 2, 3], at: 0)
            for _ in 0..<2 { #expect(code { try file.sync() } == .ioFailure) }
            let again = try volume.open("file", .update)
            try again.sync()
            #expect(volume.contents["file"] == [1, 2, 3])
            let found = Set(images(volume, 20))
            #expect(found.count == 1)
            if found != [["file": [1, 2, 3]]] { lossCount += 1 }
            try again.write([1, 2, 3], at: 0)
            try again.sync()
            #expect(images(volume, 20).allSatisfy { $0["file"] == [1, 2, 3] })
        }
        #expect(lossCount > 2)
    }

    /// Returns the first byte of each page of the file.
    private func firstBytes(_ files: [String: [UInt8]]) -> [UInt8] {
        let bytes = files["file"] ?? []
        return stride(from: 0, to: bytes.count, by: 4096).map { bytes[$0] }
    }

    private func window(_ file: any VolumeFile, pageCount: Int) throws -> FileMapping {
        try file.preallocate(offset: 0, byteCount: pageCount * 4096)
        return try #require(try file.mapWindow(byteCount: 1 << 30))
    }

    @Test func `each page that was written in a window survives or not, and a sync makes all of them durable`() throws {
        let (volume, file) = try made([])
        let window = try window(file, pageCount: 3)
        try file.sync()
        window.bytes[0] = 1
        window.bytes[8192] = 2
        #expect(try file.read(at: 8192, count: 2) == [2, 0] && volume.contents["file"]?.count == 12_288)
        #expect(Set(images(volume, 200).map(firstBytes)) == [[0, 0, 0], [1, 0, 0], [0, 0, 2], [1, 0, 2]])
        try file.sync()
        #expect(images(volume, 20).allSatisfy { firstBytes($0) == [1, 0, 2] })
        // A power failure may also lose the length.
        try file.preallocate(offset: 12_288, byteCount: 4096)
        #expect(Set(images(volume, 100).map(firstBytes)) == [[1, 0, 2], [1, 0, 2, 0]])
    }

    @Test func `a window that was released before a sync loses nothing`() throws {
        let (volume, file) = try made([])
        try window(file, pageCount: 1).bytes[0] = 1
        try file.sync()
        #expect(images(volume, 20).allSatisfy { firstBytes($0) == [1] })
    }

    @Test func `a failed sync may lose pages of a window for good, but not the length of the file`() throws {
        let (volume, file) = try made([])
        let window = try window(file, pageCount: 64)
        for page in 0..<64 { window.bytes[page * 4096] = 1 }
        volume.fail(at: volume.operationCount, with: 5)
        #expect(code { try file.sync() } == .ioFailure)
        let again = try volume.open("file", .update)
        try again.sync()
        let found = Set(images(volume, 20).map(firstBytes))
        #expect(found.count == 1 && found.first?.count == 64)
        #expect(Set(found.first ?? []) == [0, 1])
        #expect(firstBytes(volume.contents) == [UInt8](repeating: 1, count: 64))
        for page in 0..<64 { window.bytes[page * 4096] = 2 }
        try again.sync()
        #expect(images(volume, 20).allSatisfy { firstBytes($0) == [UInt8](repeating: 2, count: 64) })
    }

    @Test func `a dead process no longer changes the file, and the mappings of the next one show every change`() throws {
        let (volume, file) = try made([])
        let dead = try window(file, pageCount: 1)
        dead.bytes[0] = 1
        volume.crash(at: volume.operationCount)
        #expect(code { try file.sync() } == .ioFailure)
        #expect(code { _ = try file.mapWindow(byteCount: 4096) } == .ioFailure)
        dead.bytes[0] = 9
        volume.recover()
        let reader = try #require(try file.map(byteCount: 4096))
        let next = try window(file, pageCount: 1)
        next.bytes[1] = 2
        try file.write([3], at: 2)
        #expect(try file.read(at: 0, count: 3) == [1, 2, 3])
        #expect(Array(reader.bytes.prefix(3)) == [1, 2, 3] && Array(next.bytes.prefix(3)) == [1, 2, 3])
        #expect(Array(dead.bytes.prefix(3)) == [9, 0, 0])
    }

    @Test func `preallocation and the mapping of a window can fail`() throws {
        let (volume, file) = try made([])
        volume.fail(at: volume.operationCount, with: 28)
        let error = #expect(throws: CambiumError.self) { try file.preallocate(offset: 0, byteCount: 4096) }
        #expect((error?.underlying as? SystemError)?.code == 28)
        #expect(try file.byteCount() == 0)
        volume.fail(at: volume.operationCount, with: 12)
        #expect(code { _ = try file.mapWindow(byteCount: 4096) } == .ioFailure)
    }

    @Test func `a store without a memory budget has pages in a window, and a checkpoint makes them durable`() throws {
        let volume = FaultyVolume()
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), memory: MemoryBudget(byteCount: 0))
        for number in 0..<3 {
            try store.write { try $0.insert("Note", ["id": .int(Int64(number))]) }
            // A store makes its first chunk before it has a file, and the first checkpoint freezes this chunk.
            if number > 0 { #expect(!store.writer.timeline.mappedChunks.ofStorage.isEmpty) }
            try store.checkpoint()
            for seed in 0..<4 as Range<UInt64> {
                let disk = MemoryVolume(contents: volume.image(seed: seed))
                let again = try Store.open(disk, durability: nil, environment: fixedEnvironment(seed: 2))
                #expect(again.recovery.checkpoint == store.graph.transaction && again.graph.digest() == store.graph.digest())
                again.abandon()
            }
        }
        try store.close()
    }

    @Test func `an injected fault fails one call with the requested error number, and a dead process does nothing more`() throws {
        let (volume, file) = try made([7])
        for code: Int32 in [5, 28] {
            volume.fail(at: volume.operationCount, with: code)
            let error = #expect(throws: CambiumError.self) { try file.write([1, 2], at: 0) }
            #expect((error?.underlying as? SystemError)?.code == code && volume.hasFailed)
            #expect(volume.contents["file"] == [1])
            volume.failRead(at: volume.readCount, with: code)
            let other = #expect(throws: CambiumError.self) { try file.read(at: 0, count: 1) }
            #expect((other?.underlying as? SystemError)?.code == code)
            #expect(try file.read(at: 0, count: 1) == [1])
        }
        volume.crash(at: volume.operationCount)
        for _ in 0..<2 { #expect(code { try volume.remove("file") } == .ioFailure && volume.isDead) }
        volume.recover()
        try volume.remove("file")
    }

    @Test func `a read failure is never mistaken for a corrupt or torn log`() throws {
        var standard = LogTuning.standard
        // Each opening must make the same reads.
        standard.sealsInBackground = false
        for tuning in [standard, .tiny] {
            let volume = FaultyVolume()
            let store = try Store.create(
                volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning)
            for number in 0..<10 { try store.write { try $0.insert("Note", ["id": .int(Int64(number))]) } }
            store.abandon()
            let files = volume.contents
            let measured = FaultyVolume(contents: files)
            _ = try Store.open(measured, durability: nil, environment: fixedEnvironment(), tuning: tuning)
            #expect(measured.readCount > 10)
            for read in 0..<measured.readCount {
                let volume = FaultyVolume(contents: files)
                volume.failRead(at: read, with: 5)
                do {
                    let opened = try Store.open(volume, durability: nil, environment: fixedEnvironment(), tuning: tuning)
                    // The failed read was made to seal or merge segments.
                    #expect(opened.graph.export == store.graph.export && opened.sealingFailure?.code == .ioFailure, "read \(read)")
                    opened.abandon()
                } catch let error as CambiumError { #expect(error.code == .ioFailure, "read \(read): \(error)") }
                #expect(volume.hasFailed)
                volume.recover()
                let again = try Store.open(volume, durability: nil, tuning: tuning)
                #expect(again.graph.export == store.graph.export, "read \(read)")
                try again.close()
                #expect(try Verification(volume).findings.isEmpty, "read \(read)")
            }
        }
    }
}

import Cambium
import CambiumTesting
import Foundation
import Testing

@testable import CambiumGraph
@testable import CambiumLog

/// Chunks whose memory belongs to a file, and is released and mapped again.
@Suite struct PageFileMemoryTests {
    private static let chunkByteCount = PageLayout.chunkByteCount

    /// Runs `body` with its own directory.
    private func inDirectory(_ body: (SystemVolume) throws -> Void) throws {
        let volume = SystemVolume(root: FileManager.default.temporaryDirectory.appending(path: "cambium-pages-\(UUID().uuidString)").path)
        try volume.createDirectory("")
        defer { try? FileManager.default.removeItem(atPath: volume.root) }  // The operating system removes leftovers.
        try body(volume)
    }

    @Test(arguments: [nil, 7 as UInt64])
    func `mapping a chunk again leaves the chunks that were mapped with it unchanged`(pageFile: UInt64?) throws {
        try inDirectory { volume in
            let memory = PageFileMemory(volume, pageFile)
            for chunk in 4..<8 { try #require(memory.memory(ofChunk: chunk)).storeBytes(of: chunk, as: Int.self) }
            let neighbors = try (5..<8).map { try #require(memory.memory(ofChunk: $0)) }
            let release = memory.discard(4..<5)
            #expect(release != nil)
            release?()
            let again = try #require(memory.memory(ofChunk: 4))
            #expect(again.load(as: Int.self) == 0)
            again.storeBytes(of: 44, as: Int.self)
            #expect(neighbors.map { $0.load(as: Int.self) } == [5, 6, 7])
        }
    }

    @Test func `a file of pages is not opened while another directory is in the place of the store's directory`() throws {
        let volume = DisplacedVolume()
        let memory = PageFileMemory(volume, 7)
        memory.lock = try volume.lock(LogWriter.lockFileName)
        volume.displace(.atOnce)
        #expect(memory.memory(ofChunk: 3) == nil)
        #expect(try volume.list("").filter { PageFile.isName($0) } == [])
        volume.displace(.never)
        _ = memory.memory(ofChunk: 3)
        #expect(try volume.list("").filter { PageFile.isName($0) }.count == 1)
    }

    @Test(arguments: [nil, 7 as UInt64])
    func `a file that could not be opened is opened when its memory is next needed`(pageFile: UInt64?) throws {
        let name = "cambium-pages-\(UUID().uuidString)"
        let volume = SystemVolume(root: FileManager.default.temporaryDirectory.appending(path: name).path)
        let memory = PageFileMemory(volume, pageFile)
        #expect(memory.memory(ofChunk: 3) == nil)
        try volume.createDirectory("")
        defer { try? FileManager.default.removeItem(atPath: volume.root) }  // The operating system removes leftovers.
        #expect(memory.memory(ofChunk: 3) != nil)
    }

    @Test func `a stepwise release omits chunks that a writer opens between the steps`() throws {
        try inDirectory { volume in
            let space = PageSpace(budget: MemoryBudget(byteCount: 64 << 20))
            space.storage = PageFileMemory(volume, 7)
            use(space, 200, 0)
            space.chunkCount = 200
            var rest = space.setEmpty(Array(0..<200), spareCount: 40)
            var stepCount = 0
            while !rest.isDone {
                let lentCount = space.memories.count { $0 == .lent }
                space.take(&rest)
                #expect(space.memories.count { $0 == .lent } - lentCount <= 16)
                #expect(rest.taken.allSatisfy { !space.emptyChunks.contains($0) })
                // A writer opens ten empty chunks.
                for _ in 0..<10 {
                    let last = space.emptyChunks.popLast()
                    let chunk = Int(try #require(last))
                    space.giveMemory(chunk)
                    #expect(space.memories[chunk] == .heap)
                }
                rest.releaseTaken()
                stepCount += 1
            }
            #expect(stepCount > 4 && space.memories.count { $0 == .lent } >= space.emptyChunks.count - 40)
            #expect(space.emptyChunks.prefix(space.emptyChunks.count - 40).allSatisfy { space.memories[Int($0)] == .lent })
        }
    }

    private var mappingCount: Int {
        get throws { try String(contentsOfFile: "/proc/self/maps", encoding: .utf8).utf8.count { $0 == UInt8(ascii: "\n") } }
    }

    /// Opens all chunks, writes each one completely and then checks it.
    private func use(_ space: PageSpace, _ count: Int, _ round: Int) {
        for chunk in 0..<count {
            space.giveMemory(chunk)
            guard let base = space.chunks[chunk: chunk] else { continue }
            memset(base, Int32(truncatingIfNeeded: chunk &+ round), Self.chunkByteCount)
        }
        for chunk in 0..<count {
            let bytes = UnsafeRawBufferPointer(start: space.chunks[chunk: chunk], count: Self.chunkByteCount)
            #expect(bytes.first == UInt8(truncatingIfNeeded: chunk &+ round) && bytes.last == bytes.first, "round \(round), chunk \(chunk)")
        }
    }

    /// Stores chunks, and replaces their memory by the file.
    private func replace(_ chunks: [Int], of space: PageSpace, in volume: SystemVolume) throws {
        var writer = try PageFileWriter(volume, 7, isNamed: false)
        defer { writer.close() }
        _ = try writer.write(chunks.filter { space.memories[$0] == .heap }) { chunk, body in
            body(UnsafeRawBufferPointer(start: space.chunks[chunk: chunk], count: Self.chunkByteCount))
        }
        space.replace(chunks[...])
    }

    /// Returns the mappings of this process. Each read returns some of them, and the kernel does not report the length of the list.
    private static func mappings() throws -> [Substring] {
        let file = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/maps"))
        defer { try? file.close() }  // The file was only read.
        var text = Data()
        while let part = try file.read(upToCount: 1 << 16), !part.isEmpty { text += part }
        return String(decoding: text, as: UTF8.self).split(separator: "\n")
    }

    @Test func `a file of pages is one mapping, whichever of its chunks are used`() throws {
        try inDirectory { volume in
            let space = PageSpace(budget: MemoryBudget(byteCount: 0))
            space.storage = PageFileMemory(volume, 7, chunkCount: 600)
            for chunk in 1..<600 { space.giveMemory(chunk) }
            for round in 0..<3 {
                // Only every second chunk is emptied and used again, so no two of these chunks are neighbors.
                space.releaseAll(space.setEmpty(Array(stride(from: round % 2, to: 600, by: 2)), spareCount: 0))
                for chunk in stride(from: round % 2, to: 600, by: 2) { space.giveMemory(chunk) }
            }
            // The kernel may list a mapping twice while other threads change their mappings.
            let count = try Self.mappings().count { $0.contains(volume.root) }
            #expect((1...2).contains(count))
            // The space made its first chunk before it had a file.
            #expect(space.memories.dropFirst().allSatisfy { $0 == .window })
        }
    }

    @Test func `files replace scattered memory as long as the mapping budget allows it`() throws {
        try inDirectory { volume in
            let space = PageSpace(budget: MemoryBudget(byteCount: 64 << 20))
            space.storage = PageFileMemory(volume, 7)
            space.mappings = MappingBudget(cutCountMax: 64)
            use(space, 200, 0)
            try replace(Array(stride(from: 0, to: 200, by: 2)), of: space, in: volume)
            #expect((30...64).contains(space.countCuts()))
            #expect(space.memories.count { $0 == .file } <= 33)
            // Chunks that cannot be cut out of the file's mapping stay in it.
            space.releaseAll(space.setEmpty(Array(0..<200), spareCount: 0))
            #expect(space.memories.contains(.file) && space.countCuts() <= 64)
            use(space, 200, 1)
        }
    }

    @Test func `chunks that are emptied and reused have one address in the window and one in the heap`() throws {
        try inDirectory { volume in
            let budget = MemoryBudget(byteCount: 64 << 20)
            let space = PageSpace(budget: budget)
            space.storage = PageFileMemory(volume, 7)
            let count = 400
            // Other users have this memory.
            var taken = budget.byteCount
            budget.take(taken)
            use(space, count, 0)
            var addresses = [Set<UnsafeMutableRawPointer?>](repeating: [], count: count)
            let before = try mappingCount
            for round in 1..<24 {
                // All empty chunks after the first 256 lose their memory.
                let empty = Array([0, 30, 90][round % 3]..<count)
                if round % 4 == 0 { try replace(empty, of: space, in: volume) }
                space.releaseAll(space.setEmpty(empty))
                budget.release(taken)
                taken = round % 4 < 2 ? budget.leftByteCount : 0
                budget.take(taken)
                use(space, count, round)
                #expect(try mappingCount <= before + 2 * count, "round \(round)")
                for chunk in 0..<count { addresses[chunk].insert(space.chunks[chunk: chunk]) }
            }
            #expect(addresses.allSatisfy { $0.count <= 2 })
        }
    }
}

extension PageSpace {
    fileprivate func releaseAll(_ rest: ChunkRelease) {
        var rest = rest
        while !rest.isDone {
            take(&rest)
            rest.releaseTaken()
        }
    }
}

import CambiumTesting
import Foundation
import Testing

@testable import Cambium
@testable import CambiumGraph
@testable import CambiumLog

/// Chunks whose memory is a file's, and comes and goes.
@Suite struct PageFileMemoryTests {
    private static let chunkByteCount = PageLayout.chunkByteCount

    /// A directory of its own for what `body` does.
    private func inDirectory(_ body: (SystemVolume) throws -> Void) throws {
        let volume = SystemVolume(root: FileManager.default.temporaryDirectory.appending(path: "cambium-pages-\(UUID().uuidString)").path)
        try volume.createDirectory("")
        defer { try? FileManager.default.removeItem(atPath: volume.root) }  // What is left of a test is the system's to tidy.
        try body(volume)
    }

    @Test(arguments: [nil, 7 as UInt64])
    func `a chunk that is mapped again leaves those alone that were mapped with it`(pageFile: UInt64?) throws {
        try inDirectory { volume in
            let memory = PageFileMemory(volume, pageFile)
            for chunk in 4..<8 { try #require(memory.memory(ofChunk: chunk)).storeBytes(of: chunk, as: Int.self) }
            let neighbours = try (5..<8).map { try #require(memory.memory(ofChunk: $0)) }
            memory.discard(4..<5)
            let again = try #require(memory.memory(ofChunk: 4))
            #expect(again.load(as: Int.self) == 0)
            again.storeBytes(of: 44, as: Int.self)
            #expect(neighbours.map { $0.load(as: Int.self) } == [5, 6, 7])
        }
    }

    private var mappingCount: Int {
        get throws { try String(contentsOfFile: "/proc/self/maps", encoding: .utf8).utf8.count { $0 == UInt8(ascii: "\n") } }
    }

    /// Has each of the chunks opened, written in whole, and looked at.
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

    /// Stores chunks, and has the file take the place of their memory.
    private func replace(_ chunks: [Int], of space: PageSpace, in volume: SystemVolume) throws {
        var writer = try PageFileWriter(volume, 7, isNamed: false)
        defer { writer.close() }
        _ = try writer.write(chunks.filter { space.memories[$0] == .heap }) { chunk, body in
            body(UnsafeRawBufferPointer(start: space.chunks[chunk: chunk], count: Self.chunkByteCount))
        }
        space.replace(chunks[...])
    }

    @Test func `chunks that are emptied and used again keep their addresses, whosever their memory is`() throws {
        try inDirectory { volume in
            let budget = MemoryBudget(byteCount: 64 << 20)
            let space = PageSpace(budget: budget)
            space.storage = PageFileMemory(volume, 7)
            let count = 400
            // Memory that others have.
            var taken = budget.byteCount
            budget.take(taken)
            use(space, count, 0)
            let addresses = (0..<count).map { space.chunks[chunk: $0] }
            let before = try mappingCount
            for round in 1..<24 {
                // Those of the 257th on lose their memory.
                let empty = Array([0, 30, 90][round % 3]..<count)
                if round % 4 == 0 { try replace(empty, of: space, in: volume) }
                space.setEmpty(empty)
                budget.giveBack(taken)
                taken = round % 4 < 2 ? budget.leftByteCount : 0
                budget.take(taken)
                use(space, count, round)
                #expect(try mappingCount <= before + 2 * count, "round \(round)")
            }
            #expect((0..<count).map { space.chunks[chunk: $0] } == addresses)
        }
    }
}

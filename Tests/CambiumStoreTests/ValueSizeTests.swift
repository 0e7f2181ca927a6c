import Cambium
import CambiumGraph
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

@Suite struct ValueSizeTests {
    private static let schema = try? Schema(SchemaDefinition { EntityDefinition("Blob") { AttributeDefinition("content", .data) } })

    /// Returns bytes that LZ4 cannot compress, because they repeat only beyond the distance that it looks back. If there are 8 MiB or more,
    /// they repeat sooner and can be compressed.
    private func noise(_ byteCount: Int) -> [UInt8] {
        var random = SplitMix64(seed: UInt64(byteCount))
        let block = (0..<min(byteCount, byteCount < 8 << 20 ? 100_003 : 10_007)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        var bytes: [UInt8] = []
        while bytes.count < byteCount { bytes += block.prefix(byteCount - bytes.count) }
        return bytes
    }

    /// Returns the contents of the objects in a graph.
    private func contents(_ graph: Graph) throws -> [[UInt8]] {
        let blob = try graph.schema.required("Blob")
        let content = try blob.requiredAttribute("content")
        return graph.objects(of: blob).compactMap { id in
            if case .data(let bytes)? = graph.value(of: content, of: id) { bytes } else { nil }
        }
    }

    /// A value of 4 MiB or more has its own file.
    @Test(.enabled(if: LongTests.areWanted), arguments: [0, 1, 4095, 4096, 4097, 1 << 20, 5 << 20, 64 << 20])
    func `a value of any size is stored whole or not at all, whichever operation was the last`(byteCount: Int) throws {
        let empty = MemoryVolume()
        try Store.create(empty, schema: try #require(Self.schema), durability: .synced, environment: fixedEnvironment()).close()
        let content = noise(byteCount)
        func write(_ volume: FaultyVolume) throws {
            let store = try Store.open(volume, durability: .synced, environment: fixedEnvironment(seed: 3))
            defer { store.abandon() }
            try store.write { try $0.insert("Blob", ["content": .data(content)]) }
        }
        let measured = FaultyVolume(contents: empty.contents)
        try write(measured)
        let first = FaultyVolume(contents: empty.contents)
        _ = try Store.open(first, durability: .synced, environment: fixedEnvironment(seed: 3))
        #expect(measured.operationCount - first.operationCount >= 2)
        var seen: Set<Int> = []
        for operation in first.operationCount...measured.operationCount {
            let volume = FaultyVolume(contents: empty.contents)
            volume.crash(at: operation)
            let isAcknowledged = code { try write(volume) } == nil
            for seed in 0..<UInt64(byteCount > 8192 ? 1 : 6) {
                let found = try contents(Store.open(MemoryVolume(contents: volume.image(seed: seed)), durability: nil).graph)
                #expect(found == [content] || found.isEmpty && !isAcknowledged, "operation \(operation), seed \(seed)")
                seen.insert(found.count)
            }
        }
        #expect(seen == [0, 1])
    }
}

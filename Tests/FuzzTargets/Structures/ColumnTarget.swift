import CambiumBytes
import CambiumLog
import CambiumModel

/// The fuzz target for the blocks of an import. The columns of the blocks have any encoding of the format, and the checksums match.
/// Replaying, reading, exporting, verifying, writing and repairing the store must agree with each other, or the store is refused.
enum ColumnTarget {
    private struct Start {
        let files: [String: [UInt8]]
        let schema: Schema
    }

    private static let start = Result {
        let volume = MemoryVolume()
        let schema = try SampleStore.schema()
        try SampleStore.create(on: volume).close()
        let first = try SampleStore().payloads.dropFirst().prefix(SampleStore.baseCount - 1)
        return Start(files: try ForgedLog.append(Array(first), to: volume.contents), schema: schema)
    }

    @Sendable static func seeds() throws -> [[UInt8]] {
        let head: [[UInt8]] = [[0, 0, 3], [0, 2, 2], [1, 0, 1], [2, 0, 2], [3, 3, 1], [4, 0, 2], [0, 1, 5]]
        let multiples: [UInt8] = (0..<80).map { UInt8($0 * 7 & 255) }
        let choices: [[UInt8]] = [[], [UInt8](repeating: 1, count: 60), [UInt8](repeating: 2, count: 60), multiples]
        return head.flatMap { head in choices.map { head + $0 } }
    }

    @Sendable static func run(_ input: [UInt8]) throws {
        let start = try start.get()
        var writer = ColumnWriter(Choices(input), start.schema)
        for _ in 0..<3 where !writer.choices.isOver { writer.writeOp() }
        try FrameTarget.use(try ForgedLog.append([writer.bytes], to: start.files))
    }
}

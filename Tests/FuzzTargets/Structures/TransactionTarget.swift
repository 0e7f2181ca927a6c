import CambiumLog
import CambiumModel

/// The fuzz target for transactions. It changes fields in the ops of a transaction of a valid store, and the checksums match. Replaying,
/// reading, exporting, verifying, writing and repairing the store must agree with each other, or the store is refused.
///
/// An input consists of choices: first a transaction, then the changes.
enum TransactionTarget {
    /// A transaction, and the files of the store before the transaction.
    private struct Step {
        let ops: [Op]
        let files: [String: [UInt8]]
    }

    private static let steps = Result { try makeSteps() }

    private static func makeSteps() throws -> [Step] {
        let volume = MemoryVolume()
        try SampleStore.create(on: volume).close()
        var files = volume.contents
        var steps: [Step] = []
        for payload in try SampleStore().payloads.dropFirst() {
            steps.append(Step(ops: try OpCodec.decode(payload[...]), files: files))
            files = try ForgedLog.append([payload], to: files)
        }
        let clones = try SampleClones.ops().map { Step(ops: [.clone($0)], files: steps.dropFirst().first?.files ?? files) }
        return steps + clones
    }

    @Sendable static func seeds() throws -> [[UInt8]] {
        try steps.get().indices.flatMap { step in
            [
                [], [0, 0, 1, 0, 0], [0, 1, 0, 2, 6], [1, 3, 1, 2, 10, 0, 6], [0, 15, 1, 2, 0, 3, 4], [2, 13, 1, 0, 12],
                [0, 4, 2, 2, 1, 3],
            ].map {
                [UInt8(step)] + $0
            }
        }
    }

    @Sendable static func run(_ input: [UInt8]) throws {
        var choices = Choices(input)
        guard let step = choices.pick(try steps.get()) else { return }
        var changes = OpChanges(choices, try SampleStore.schema())
        let payload = OpCodec.encode(changes.change(step.ops))
        try FrameTarget.use(try ForgedLog.append([payload], to: step.files))
    }
}

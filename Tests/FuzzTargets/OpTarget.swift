import CambiumBytes
import CambiumGraph
import CambiumLog
import CambiumModel

/// The fuzz target for the ops of a transaction. Decoded ops can be encoded and decoded again without a change. Applying them leaves a
/// sound graph or throws an error.
enum OpTarget {
    @Sendable static func seeds() throws -> [[UInt8]] { try SampleStore().payloads + SampleClones.payloads() }

    @Sendable static func run(_ input: [UInt8]) throws {
        do {
            try OpCodec.forEach(in: input[...], writeAgain)
        } catch is DecodingError {
            return  // Refused, with the position.
        }
        let timeline = try timeline()
        let digest = timeline.head.digest()
        var draft = timeline.draft()
        if try applies(input, to: &draft) {
            try timeline.publish(draft)
            try Finding.check(timeline.head)
        } else {
            _ = consume draft
            guard timeline.head.digest() == digest else { throw Finding("refused ops changed the graph") }
        }
        try Finding.check(PageChecker.findings(in: timeline), "the pages after the ops")
    }

    private static func applies(_ input: [UInt8], to draft: inout Draft) throws -> Bool {
        do {
            try OpCodec.forEach(in: input[...]) { try draft.apply($0) }
            try draft.check()
            return true
        } catch is CambiumError {
            return false  // Refused, with the reason.
        }
    }

    private static let base = Result { try SampleStore().payloads.prefix(SampleStore.baseCount).flatMap { try OpCodec.decode($0[...]) } }

    private static func timeline() throws -> Timeline {
        let timeline = Timeline(key: HashKey(secret: []))
        var draft = timeline.draft()
        for op in try base.get() { try draft.apply(op) }
        try timeline.publish(draft)
        return timeline
    }

    private static func writeAgain(_ op: Op) throws {
        let encoded = OpCodec.encode([op])
        // The bytes are compared, because NaN is not equal to itself.
        guard OpCodec.encode(try OpCodec.decode(encoded[...])) == encoded else { throw Finding("an op is not read back unchanged") }
    }
}

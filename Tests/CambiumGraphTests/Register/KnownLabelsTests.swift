import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

/// The labels that a writer keeps up to date equal the labels that each version lists.
@Suite struct KnownLabelsTests {
    /// Names of which two pairs are equal strings with different bytes.
    private static let names = ["caf\u{E9}", "cafe\u{301}", "K", "\u{212A}", "plain"]

    private func number(_ value: Int) -> TransactionNumber { TransactionNumber(rawValue: UInt64(value)) }

    private func expectEqual(_ known: KnownLabels, _ graph: Graph, at location: SourceLocation = #_sourceLocation) {
        let labels = graph.labels
        for name in Self.names + ["missing"] { #expect(known[name] == labels[name], "\(name)", sourceLocation: location) }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `labels that were set and moved are known by each equal name`(seed: UInt64) throws {
        var (random, known) = (SplitMix64(seed: seed), KnownLabels())
        let timeline = Timeline()
        expectEqual(known, timeline.head)
        for last in 1...60 {
            let ops = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                Op.label(Self.names.randomElement(using: &random) ?? "", number(.random(in: 1...last, using: &random)))
            }
            try ProgramRun.commit(ops, to: timeline)
            if random.isTrue(2, outOf: 3) { known.update(to: timeline.head) }
        }
        known.update(to: timeline.head)
        expectEqual(known, timeline.head)
        known.update(to: timeline.head)
        expectEqual(known, timeline.head)
    }

    @Test func `a label that moved many times is found without its earlier transactions`() throws {
        let timeline = Timeline()
        for last in 1...200 { try ProgramRun.commit([.label("plain", number(last))], to: timeline) }
        var known = KnownLabels()
        known.update(to: timeline.head)
        #expect(known["plain"] == number(200))
    }
}

/// Runs two processes with commands at the same time: each reader with each writer, and writers with writers.
struct PairMatrix {
    struct Pair: Sendable {
        let first: PairSide
        let second: PairSide

        var name: String { "pairs/\(first.name)+\(second.name)" }
    }

    private let attack: Attack

    init(_ attack: Attack) { self.attack = attack }

    static let all =
        PairSide.readers.flatMap { reader in PairSide.writers.map { Pair(first: reader, second: $0) } }
        + PairSide.moreWriters.flatMap { writer in PairSide.writers.map { Pair(first: writer, second: $0) } }

    func run() throws {
        let pairs = Self.all.filter { attack.isWanted($0.name) }
        let root = try attack.makeDirectory()
        try SampleStore(kind: .checkpointed, seed: 1, word: "title").build(in: root + "/site", earlier: root + "/earlier")
        try PairSide.writeRows(to: root + "/site/input/many.json")
        let export = try Child.run(attack.options.cambium, ["export", "store"], in: root + "/site")
        let before = PairRun.ids(export.text)
        // Pairs run one at a time, because each pair is two processes already.
        for pair in pairs {
            for _ in 0..<attack.options.roundCount { try PairRun(pair, site: root + "/site", before: before, attack).run() }
        }
    }
}

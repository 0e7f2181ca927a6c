import Foundation

/// A sample, and the result of each command while the store is sound.
struct SoundStore: Sendable {
    struct Answer: Sendable {
        let outcome: Outcome
        /// The export of the store after a command that writes. `nil` if the command fails or does not write.
        let exportAfter: [UInt8]?
    }

    let kind: SampleKind
    /// The directory that each `Site` copies.
    let site: String
    let earlier: String
    let otherSite: String
    let answers: [String: Answer]
    /// Further permitted answers if the end of the log is corrupt. Nothing proves that the last transactions of a store that was not closed
    /// were durable, so it may end earlier. Each element has the answers of a store that ends at one of the earlier moments. Empty for a
    /// store that was closed.
    let shorter: [[String: Answer]]
    /// The answers of the `log` commands for the same store before its compaction. Empty if the store is not compacted.
    let unretired: [String: Answer]
    /// The path of the last segment, the only file whose end may be lost.
    private let lastSegment: String
    /// The exports of all moments.
    let moments: [[UInt8]]

    /// Builds the sample in a new directory and runs every command.
    init(_ kind: SampleKind, _ attack: Attack) throws {
        self.kind = kind
        let root = try attack.makeDirectory()
        (site, earlier, otherSite) = (root + "/site", root + "/earlier", root + "/other")
        try SampleStore(kind: kind, seed: 1, word: "title").build(in: site, earlier: earlier)
        try SampleStore(kind: kind, seed: 2, word: "words").build(in: otherSite, earlier: root + "/other-earlier")
        try Tree.copy(site + "/store", to: site + "/input/copy")
        lastSegment = try Self.lastSegment(of: site + "/store")
        answers = try Self.answers(kind, site, attack)
        unretired = try kind.isCompacted ? Self.unretired(root, kind, attack) : [:]
        let moments = try Self.moments(root, kind, attack)
        self.moments = moments.map(\.export)
        shorter = try kind == .unclosed ? Self.shorter(site, moments.map(\.number), root, attack) : []
        let readers = ["verify", "export", "show", "show-then", "export-then"]
        for name in readers + ["insert", "backup"] where answers[name]?.outcome.isDone != true {
            throw Misuse("the sound store '\(kind)' refuses '\(name)': \(answers[name]?.outcome.lines ?? [])")
        }
    }

    /// Returns the permitted answers of a command after a corruption of `file`.
    func permitted(_ command: AttackCommand, after file: String) -> [Answer] {
        ([answers] + (file == "store/" + lastSegment ? shorter : [])).compactMap { $0[command.name] }
    }

    private static func lastSegment(of store: String) throws -> String {
        try Tree(store).files.last { $0.hasPrefix("log/") && $0.hasSuffix(".log") } ?? ""
    }

    private static func unretired(_ root: String, _ kind: SampleKind, _ attack: Attack) throws -> [String: Answer] {
        let site = root + "/unretired"
        try SampleStore(kind: kind, seed: 1, word: "title", isCompacted: false).build(in: site, earlier: root + "/unretired-earlier")
        return try answers(kind, site, of: AttackCommand.readers.filter { $0.name.hasPrefix("log") }, attack)
    }

    private static func answers(
        _ kind: SampleKind, _ site: String, of commands: [AttackCommand] = AttackCommand.all, _ attack: Attack
    ) throws -> [String: Answer] {
        var answers: [String: Answer] = [:]
        for command in commands {
            let site = try Site(copying: site, attack)
            let outcome = try site.run(command.arguments(in: kind))
            let isChanged = outcome.isDone && command.effect == .writes
            let exported = try isChanged ? site.run(AttackCommand.export.arguments(in: kind)).output : nil
            answers[command.name] = Answer(outcome: outcome, exportAfter: exported)
            try site.remove()
        }
        return answers
    }

    /// Returns the exports of all moments. Another sample with the same transactions supplies them, because a compacted store shows only
    /// some moments.
    private static func moments(_ root: String, _ kind: SampleKind, _ attack: Attack) throws -> [(number: Int, export: [UInt8])] {
        let whole = root + "/whole"
        try SampleStore(kind: .small, seed: 1, word: "title").build(in: whole, earlier: root + "/whole-earlier")
        var moments: [(number: Int, export: [UInt8])] = []
        for number in 1...100 {
            let outcome = try Child.run(attack.options.cambium, ["export", "store", "--at", "\(number)"], in: whole)
            guard outcome.isDone else { break }
            moments.append((number, outcome.output))
        }
        return moments
    }

    private static func shorter(_ site: String, _ numbers: [Int], _ root: String, _ attack: Attack) throws -> [[String: Answer]] {
        let digits = try lastSegment(of: site + "/store").dropFirst("log/".count).dropLast(".log".count)
        guard let first = Int(digits), let newest = numbers.last else { return [] }
        return try (first - 1..<newest).map { number in
            let shorter = root + "/shorter-\(number)"
            try Tree.copy(site, to: shorter)
            try FileManager.default.removeItem(atPath: shorter + "/store")
            _ = try Child.run(attack.options.cambium, ["restore", site + "/store", "store", "--at", "\(number)"], in: shorter)
            return try answers(.unclosed, shorter, attack)
        }
    }
}

import CambiumTesting
import Foundation

/// One corruption of one file, and the commands that run against the corrupt store.
struct CorruptionRun {
    private let corruption: Corruption
    private let store: SoundStore
    private let attack: Attack
    /// The corrupt store. Commands that write run in a copy of it.
    private let site: Site
    private let commands: [AttackCommand]

    /// Returns `nil` if this corruption is not possible for this file.
    init?(_ corruption: Corruption, _ store: SoundStore, _ attack: Attack) throws {
        (self.corruption, self.store, self.attack) = (corruption, store, attack)
        var random = attack.random(for: corruption.name)
        site = try Site(copying: store.site, attack)
        commands = Self.choose(attack.options.isFull, &random)
        if try corruption.apply(in: site.directory, earlier: store.earlier, other: store.otherSite, &random) { return }
        try site.remove()
        return nil
    }

    private static func choose(_ isFull: Bool, _ random: inout SplitMix64) -> [AttackCommand] {
        if isFull { return AttackCommand.all }
        var chosen = [.export] + AttackCommand.readers.dropFirst().shuffled(using: &random).prefix(1)
        chosen += AttackCommand.copiers.shuffled(using: &random).prefix(1) + AttackCommand.writers.shuffled(using: &random).prefix(1)
        if random.isTrue(1, outOf: 6) { chosen += AttackCommand.refused.shuffled(using: &random).prefix(1) }
        return chosen
    }

    func run() throws {
        let before = attack.findingCount
        let verification = try verify()
        for command in commands where attack.isWanted(name(command)) {
            switch command.effect {
            case .reads: try read(command, isSound: verification)
            case .copies: try copy(command)
            case .writes: try write(command)
            case .isRefused: try refuse(command)
            }
        }
        // The files of a finding stay.
        if attack.findingCount == before { try site.remove() }
    }

    private func name(_ command: AttackCommand) -> String { corruption.name + "/" + command.name }

    private func report(_ command: AttackCommand, _ sentence: String, _ outcome: Outcome) {
        attack.report(name(command), sentence, outcome, directory: site.directory)
    }

    /// Runs a command in a site, and checks the rules for all commands: the command ends properly, and changes nothing outside the store. A
    /// command that fails also leaves the store unchanged.
    ///
    /// - Parameter changes: whether the command may change the store if it succeeds.
    private func attempt(_ command: AttackCommand, in site: Site, changes: Bool) throws -> Outcome {
        let (storeBefore, outsideBefore) = (try site.tree("store"), try site.tree("outside"))
        let archiveBefore = try site.tree("archive")
        let outcome = try site.run(command.arguments(in: store.kind))
        attack.count("corruptions")
        if let misconduct = outcome.misconduct(hasFindings: command.reportsFindings) {
            report(command, misconduct, outcome)
        } else if let code = outcome.code, code != 0, !outcome.errors.isEmpty, !namesPlace(outcome) {
            report(command, "the error names neither the store nor a file", outcome)
        }
        if try site.tree("outside") != outsideBefore { report(command, "a file outside the store was changed", outcome) }
        let after = try site.tree("store")
        if after.nodes["keep.txt"] != storeBefore.nodes["keep.txt"] { report(command, "a foreign file in the store was changed", outcome) }
        // A writer that fails has taken the lock and written its process number into LOCK. If HEAD was corrupt, opening the store has also
        // repaired HEAD and preallocated disk space for the newest segment.
        var ignored: Set<String> = command.effect == .writes ? ["LOCK"] : []
        if command.effect == .writes, mayRepairHead { ignored.formUnion(["HEAD"] + after.segments(asIn: storeBefore)) }
        // Opening the store also seals and merges segments that get no more frames, so their boundaries may differ.
        if command.effect == .writes { ignored.formUnion(after.closedSegments(with: storeBefore)) }
        // A command that hangs was killed, and the hang is reported already.
        if !changes || ![nil, 0].contains(outcome.code) && !command.isUpkeep {
            if let path = after.difference(from: storeBefore, ignoring: ignored) {
                report(command, "\(changes ? "the command fails and" : "a command that reads") changes '\(path)'", outcome)
            }
            if try site.tree("archive").difference(from: archiveBefore, ignoring: ["LOCK"]) != nil, !changes {
                report(command, "a command that reads changes the archive", outcome)
            }
        }
        return outcome
    }

    /// Whether HEAD may be the corrupt file or one of two swapped files.
    private var mayRepairHead: Bool { corruption.file == "store/HEAD" || corruption.kind == .swapped }

    private func namesPlace(_ outcome: Outcome) -> Bool {
        let file = corruption.file.split(separator: "/").last.map(String.init) ?? ""
        return [file, "store", "archive", "log", "roots", "out"].contains { outcome.errors.contains($0) }
    }

    /// Returns whether a command may end with an exit code because of the corruption.
    private func explains(_ code: Int32?, _ command: AttackCommand, _ permitted: [SoundStore.Answer]) -> Bool {
        guard let code else { return true }  // `attempt` has reported that a signal ended the command.
        let isOfArchive = command.usesArchive || corruption.file.hasPrefix("archive/")
        if permitted.contains(where: { $0.outcome.code == code }) { return true }
        return [66, 73, 74].contains(code) || code == 1 && (command.reportsFindings || isOfArchive) || code == 75 && isOfArchive
    }

    // MARK: Reading

    /// Returns whether verification calls the store sound. Reports a finding if verification then states wrong facts about the store.
    private func verify() throws -> Bool {
        let permitted = store.permitted(.verify, after: corruption.file)
        let outcome = try attempt(.verify, in: site, changes: false)
        guard outcome.isDone else { return false }
        if Facts(outcome.text)["ok"] != "true" { report(.verify, "the exit code is 0, but the answer is not ok", outcome) }
        let keys = ["digest", "transactions", "root"]
        let isRight = permitted.contains { answer in keys.allSatisfy { Facts(answer.outcome.text)[$0] == Facts(outcome.text)[$0] } }
        if !isRight { report(.verify, "verification states wrong facts about the store", outcome) }
        return true
    }

    private func read(_ command: AttackCommand, isSound: Bool) throws {
        let permitted = store.permitted(command, after: corruption.file)
        let outcome = try attempt(command, in: site, changes: false)
        if permitted.contains(where: { Self.isSame(outcome, $0.outcome, command.comparison) }) { return }
        if isUnretired(outcome, command) { return }
        if outcome.isDone { return report(command, "the answer is wrong", outcome) }
        if isSound { return report(command, "verification calls the store sound, but the command fails", outcome) }
        if !explains(outcome.code, command, permitted) { report(command, "the exit code is wrong for a corrupt store", outcome) }
    }

    /// Returns whether the log of a compacted store shows changes that the compaction has retired. This is right if a segment from before
    /// the compaction replaced a newer one. All other lines must be as in the sound store.
    private func isUnretired(_ outcome: Outcome, _ command: AttackCommand) -> Bool {
        guard corruption.kind == .older, corruption.file.hasPrefix("store/log/"), outcome.isDone,
            let whole = store.unretired[command.name]?.outcome, let sound = store.answers[command.name]?.outcome
        else { return false }
        let lines = outcome.text.split(separator: "\n")
        let permitted = Set((whole.text + sound.text).split(separator: "\n"))
        return lines.count >= sound.text.split(separator: "\n").count && lines.allSatisfy(permitted.contains)
    }

    private static func isSame(_ outcome: Outcome, _ other: Outcome, _ comparison: AttackCommand.Comparison) -> Bool {
        guard outcome.code == other.code else { return false }
        switch comparison {
        case .whole: return outcome.output == other.output
        case .none: return true
        case .counts:
            let (facts, others) = (Facts(outcome.text), Facts(other.text))
            return ["objects", "links", "transactions"].allSatisfy { facts[$0] == others[$0] }
        }
    }

    // MARK: Copying

    private func copy(_ command: AttackCommand) throws {
        let permitted = store.permitted(command, after: corruption.file)
        try site.remove("out")
        let outcome = try attempt(command, in: site, changes: false)
        let isRepaired = command.name == "repair" && outcome.code == 1
        guard outcome.isDone || isRepaired else {
            if !explains(outcome.code, command, permitted) { report(command, "the exit code is wrong for a corrupt store", outcome) }
            return try expectNoStore(after: command, outcome)
        }
        let verification = try site.run(["verify", "out", "--json"])
        if !verification.isDone { return report(command, "the copy does not verify", verification) }
        let exported = try site.run(["export", "out"])
        let rights = isRepaired ? store.moments : exports(command)
        if !exported.isDone || !rights.contains(exported.output) { report(command, "the copy differs from the store", exported) }
    }

    /// Returns the permitted exports of the copy that a command makes.
    private func exports(_ command: AttackCommand) -> [[UInt8]] {
        let source = command.name == "restore-then" ? AttackCommand.exportThen : .export
        return store.permitted(source, after: corruption.file).map(\.outcome.output)
    }

    private func expectNoStore(after command: AttackCommand, _ outcome: Outcome) throws {
        guard FileManager.default.fileExists(atPath: site.path("out")) else { return }
        let exported = try site.run(["export", "out"])
        // If `apply` fails, the target keeps the transactions that were applied before, and the next run continues after them.
        if exported.isDone, command.name != "apply-from" || !store.moments.contains(exported.output) {
            report(command, "the command fails and leaves a store", outcome)
        }
    }

    // MARK: Writing

    private func write(_ command: AttackCommand) throws {
        let permitted = store.permitted(command, after: corruption.file)
        let own = try Site(copying: site.directory, attack)
        let before = attack.findingCount
        let outcome = try attempt(command, in: own, changes: true)
        if outcome.isDone {
            let exported = try own.run(AttackCommand.export.arguments(in: store.kind))
            if !exported.isDone {
                report(command, "the command succeeds, but the store cannot be read after it", exported)
            } else if !permitted.contains(where: { $0.exportAfter == exported.output }) {
                report(command, "the command succeeds, but its result differs from the result in a sound store", exported)
            }
        } else {
            if !explains(outcome.code, command, permitted) { report(command, "the exit code is wrong for a corrupt store", outcome) }
            let isMerged = try own.tree("store").closedSegments(with: site.tree("store")).count > 0
            if command.isUpkeep || mayRepairHead || isMerged { try expectSame(own, after: command, outcome) }
        }
        if attack.findingCount == before { try own.remove() }
    }

    /// Checks that a command that failed did not change the export of the store.
    private func expectSame(_ own: Site, after command: AttackCommand, _ outcome: Outcome) throws {
        let export = AttackCommand.export.arguments(in: store.kind)
        let (shown, before) = (try own.run(export), try site.run(export))
        if before.isDone, shown.output != before.output { report(command, "the command fails and changes what the store shows", outcome) }
    }

    private func refuse(_ command: AttackCommand) throws {
        let own = try Site(copying: site.directory, attack)
        let outcome = try attempt(command, in: own, changes: false)
        if outcome.isDone { report(command, "the command replaces an existing store", outcome) }
        try own.remove()
    }
}

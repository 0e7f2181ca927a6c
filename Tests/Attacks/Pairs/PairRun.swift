import CambiumBytes
import CambiumJSON
import Dispatch
import Foundation

/// One pair of commands side by side, and the checks while they run and after they end.
///
/// SENDABLE: all mutable state is in `state`, under its lock.
final class PairRun: @unchecked Sendable {
    /// The results that the two sides share.
    private struct State {
        /// The ids of the notes that successful commands inserted.
        var acknowledged: Set<Int> = []
        var isOver = false
        var failure: (any Error)?
    }

    private let pair: PairMatrix.Pair
    private let attack: Attack
    private let site: Site
    private let state = Guarded(State())
    /// The ids of the notes before any command writes.
    private let before: Set<Int>

    init(_ pair: PairMatrix.Pair, site: String, before: Set<Int>, _ attack: Attack) throws {
        (self.pair, self.attack, self.before) = (pair, attack, before)
        self.site = try Site(copying: site, attack)
    }

    func run() throws {
        let findingCount = attack.findingCount
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            do {
                try turns(index == 0 ? pair.first : pair.second)
            } catch {
                state.withLock { ($0.failure, $0.isOver) = ($0.failure ?? error, true) }
            }
        }
        if let failure = state.withLock({ $0.failure }) { throw failure }
        try checkEnd()
        if attack.findingCount == findingCount { try site.remove() }
    }

    private func turns(_ side: PairSide) throws {
        guard side.role == .writes else {
            var turn = 0
            repeat {
                try turnOfReader(side, turn)
                turn += 1
            } while !state.withLock { $0.isOver }
            return
        }
        for turn in 0..<side.count { try turnOfWriter(side, turn) }
        state.withLock { $0.isOver = true }
    }

    private func report(_ sentence: String, _ outcome: Outcome) {
        attack.report(pair.name, sentence, outcome, directory: site.directory)
    }

    private func turnOfWriter(_ side: PairSide, _ turn: Int) throws {
        // A writer that finds the store locked runs again, as a user would run it. The other process releases the lock sooner or later.
        for _ in 0..<1500 {
            let outcome = try site.run(side.arguments(turn, "out"))
            attack.count("pairs")
            if let misconduct = outcome.misconduct() { return report(misconduct, outcome) }
            if outcome.code == 75 { continue }
            if !outcome.isDone { return report("a command fails while another one runs, but not because of the lock", outcome) }
            return state.withLock { $0.acknowledged.formUnion(Self.notes(side.name, turn)) }
        }
        report("the store stays locked", try site.run(side.arguments(turn, "out")))
    }

    /// Returns the ids of the notes that one turn of a writer inserts.
    private static func notes(_ name: String, _ turn: Int) -> Set<Int> {
        guard let first = PairSide.firstIDs[name] else { return [] }
        return name == "import" ? Set(first..<first + PairSide.importRowCount) : [first + turn]
    }

    private func turnOfReader(_ side: PairSide, _ turn: Int) throws {
        let out = "out-\(turn)"
        let acknowledged = state.withLock { $0.acknowledged }
        let outcome = try site.run(side.arguments(turn, out))
        attack.count("pairs")
        if let misconduct = outcome.misconduct(hasFindings: true) { return report(misconduct, outcome) }
        if !outcome.isDone {
            if mayHaveBeenRetired(side, outcome) { return }
            guard isWholeWithoutHistory(side, outcome) else {
                return report("a reader fails while a writer works, as if the store were corrupt", outcome)
            }
        }
        if let wrong = try wrong(side, outcome, out, acknowledged) { report(wrong, outcome) }
        try site.remove(out)
    }

    /// Returns whether a command was refused because a concurrent compaction retired the history that the command needs.
    private func mayHaveBeenRetired(_ side: PairSide, _ outcome: Outcome) -> Bool {
        guard side.role == .needsHistory, pair.second.name == "compactions" else { return false }
        return ["compacted", "retired", "redacted"].contains { outcome.errors.contains($0) }
    }

    /// Returns whether a repair copied all objects and reported only the history that a concurrent compaction retired.
    private func isWholeWithoutHistory(_ side: PairSide, _ outcome: Outcome) -> Bool {
        guard side.name == "repair", pair.second.name == "compactions", outcome.code == 1 else { return false }
        return Facts(outcome.text)["findings"]?.contains("retired") == true
    }

    /// Returns the fault in a reader's answer. Returns `nil` if the answer is right for at least one moment while the command ran.
    private func wrong(_ side: PairSide, _ outcome: Outcome, _ out: String, _ acknowledged: Set<Int>) throws -> String? {
        switch side.name {
        case "export": return missing(acknowledged, in: outcome.text)
        case "find": return missing(acknowledged, in: outcome.text)
        case "count":
            let count = Int(outcome.text.filter(\.isNumber)) ?? 0
            return count < before.count + acknowledged.count ? "the answer counts \(count) notes, but more were acknowledged" : nil
        case "verify": return Facts(outcome.text)["findings"] == "[]" ? nil : "a sound store has findings"
        case "log", "log-ops":
            let numbers = outcome.text.split(separator: "\n").map { Facts(String($0))["transaction"].flatMap { Int($0) } ?? 0 }
            return numbers == Array(1...max(1, numbers.count)) ? nil : "the log is not in order"
        case "backup", "restore", "apply", "repair":
            let copy = try site.run(["export", out])
            if !copy.isDone { return "the copy cannot be read: \(copy.errors)" }
            return missing(acknowledged, in: copy.text)
        default: return nil
        }
    }

    private func missing(_ acknowledged: Set<Int>, in export: String) -> String? {
        let lost = acknowledged.subtracting(Self.ids(export))
        return lost.isEmpty ? nil : "\(lost.count) acknowledged notes are missing, such as \(lost.min() ?? 0)"
    }

    /// Returns the ids of the notes in an export.
    static func ids(_ export: String) -> Set<Int> {
        Set(
            export.split(separator: "\n").compactMap { line in
                guard let range = line.firstRange(of: "\"id\":") else { return nil }
                return Int(line[range.upperBound...].prefix { $0.isNumber })
            })
    }

    private func checkEnd() throws {
        let verification = try site.run(["verify", "store", "--json"])
        if !verification.isDone || Facts(verification.text)["findings"] != "[]" {
            report("the store is not sound after the commands", verification)
        }
        let exported = try site.run(["export", "store"])
        if let missing = missing(state.withLock { $0.acknowledged }, in: exported.text) { report(missing, exported) }
        let expected = before.union(state.withLock { $0.acknowledged })
        if Self.ids(exported.text) != expected {
            report("the store does not contain exactly the \(expected.count) acknowledged notes", exported)
        }
    }
}

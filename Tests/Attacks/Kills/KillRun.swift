import CambiumTesting
import Foundation

/// One run of a command that is killed at a random moment, and the checks that follow. The seed determines the moment.
struct KillRun {
    private let command: KilledCommand
    private let sound: SoundCommand
    private let attack: Attack
    private let site: Site
    private let name: String
    private let milliseconds: Int

    init(_ command: KilledCommand, _ sound: SoundCommand, round: Int, _ attack: Attack) throws {
        (self.command, self.sound, self.attack) = (command, sound, attack)
        name = "kills/\(command.name)/\(round)"
        var random = attack.random(for: name)
        milliseconds = Int.random(in: 1...max(2, sound.milliseconds), using: &random)
        site = try Site(copying: sound.site, attack)
    }

    private func report(_ sentence: String, _ outcome: Outcome) {
        attack.report(name, "\(sentence) (killed after \(milliseconds) ms)", outcome, directory: site.directory)
    }

    func run() throws {
        let before = attack.findingCount
        let outcome = try site.start(command.arguments).finish(milliseconds: milliseconds)
        attack.count("kills")
        if outcome.ending != .killed, let misconduct = outcome.misconduct() { report(misconduct, outcome) }
        try checkStore(isAcknowledged: outcome.isDone)
        try runAgain(isAcknowledged: outcome.isDone)
        if attack.findingCount == before { try site.remove() }
    }

    /// Checks that the store is sound and shows either all of the command's changes or none of them.
    private func checkStore(isAcknowledged: Bool) throws {
        try expectSound("store")
        guard !command.makesOut else {
            if FileManager.default.fileExists(atPath: site.path("out")) { try checkOut() }
            return
        }
        let exported = try site.run(["export", "store"])
        let rights = isAcknowledged ? [sound.after] : [sound.before, sound.after]
        if !exported.isDone || !command.hasParts && !rights.contains(exported.output) || isAcknowledged && exported.output != sound.after {
            report(isAcknowledged ? "acknowledged changes are missing" : "the store has only a part of the changes", exported)
        }
    }

    /// Checks that `out`, the store that a killed command makes, is either complete or cannot be opened.
    private func checkOut() throws {
        let exported = try site.run(["export", "out"])
        if let misconduct = exported.misconduct() { return report(misconduct, exported) }
        // `apply` first creates the store with its schema, and then applies the transactions one by one. So an incomplete copy may open.
        if exported.isDone, exported.output != sound.after, command.name != "apply" { report("an incomplete copy opens", exported) }
    }

    private func expectSound(_ store: String) throws {
        let verification = try site.run(["verify", store, "--json"])
        if !verification.isDone { report("'\(store)' is not sound", verification) }
    }

    /// Checks that the same command now succeeds. Skips the check if the killed command was complete and cannot run twice.
    private func runAgain(isAcknowledged: Bool) throws {
        let isDone = try !command.isRepeatable && site.run(["export", "store"]).output == sound.after
        // If `out` is complete, the next run fails, because a command does not replace a store.
        let isMade = try command.makesOut && command.name != "apply" && site.run(["export", "out"]).isDone
        if isDone || isMade { return }
        let outcome = try site.run(command.arguments)
        if !outcome.isDone { return report("the command fails when it is run again", outcome) }
        let target = command.makesOut ? "out" : "store"
        let exported = try site.run(["export", target])
        if exported.output != sound.after { report("the command has another result when it is run again", exported) }
        try expectSound(target)
    }
}

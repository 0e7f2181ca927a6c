/// Runs each command that writes several times, and kills it at random moments.
struct KillMatrix {
    private let attack: Attack

    init(_ attack: Attack) { self.attack = attack }

    func run() throws {
        let root = try attack.makeDirectory()
        try SampleStore(kind: .checkpointed, seed: 1, word: "title").build(in: root + "/site", earlier: root + "/earlier")
        try PairSide.writeRows(to: root + "/site/input/many.json")
        let attack = attack
        let commands = KilledCommand.all.filter { attack.isWanted("kills/\($0.name)") }
        try attack.forEach(commands) { command in
            let sound = try SoundCommand(command, site: root + "/site", attack)
            for round in 0..<attack.options.roundCount where attack.isWanted("kills/\(command.name)/\(round)") {
                try KillRun(command, sound, round: round, attack).run()
            }
        }
    }
}

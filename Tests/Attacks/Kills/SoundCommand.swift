/// The result of a command that runs to its end without being killed.
struct SoundCommand: Sendable {
    let site: String
    /// The duration of the run, in milliseconds.
    let milliseconds: Int
    /// The export of the store, or of `out`, before and after the command.
    let before: [UInt8]
    let after: [UInt8]

    init(_ command: KilledCommand, site: String, _ attack: Attack) throws {
        self.site = site
        let own = try Site(copying: site, attack)
        let exported = ["export", command.makesOut ? "out" : "store"]
        before = try own.run(exported).output
        let begin = ContinuousClock.now
        let outcome = try own.run(command.arguments)
        milliseconds = Int(begin.duration(to: .now) / .milliseconds(1))
        after = try own.run(exported).output
        guard outcome.isDone else { throw Misuse("'\(command.name)' fails without being killed: \(outcome.lines)") }
        try own.remove()
    }
}

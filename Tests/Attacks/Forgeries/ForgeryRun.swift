import CambiumJSON
import Foundation

/// One attack with a store whose bytes were forged: runs commands that read and write it, and checks their results.
struct ForgeryRun {
    static let export = ["export", "store"]

    private let name: String
    private let forgery: String
    private let files: [String: [UInt8]]
    /// The export of the store before the forgery; `nil` if the forgery is in the log itself. An unchanged log still has the same contents.
    private let sound: [UInt8]?
    private let attack: Attack
    private let directory: String

    init(_ name: String, _ forgery: String, _ files: [String: [UInt8]], sound: [UInt8]?, _ attack: Attack) throws {
        (self.name, self.forgery, self.files, self.sound, self.attack) = (name, forgery, files, sound, attack)
        directory = try attack.makeDirectory()
    }

    static func write(_ files: [String: [UInt8]], to directory: String) throws {
        for (path, bytes) in files {
            let url = URL(filePath: directory + "/" + path)
            try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(bytes).write(to: url)
        }
    }

    func run() throws {
        let before = attack.findingCount
        attack.count(String(name.prefix { $0 != "/" }))
        try Self.write(files, to: directory + "/store")
        let tree = try Tree(directory + "/store")
        let verification = try attempt(["verify", "store", "--json"], hasFindings: true)
        let exported = try attempt(Self.export)
        try checkAnswers(verification, exported)
        try checkJSON(try attempt(["log", "store", "--ops", "--json"]))
        if try Tree(directory + "/store").difference(from: tree) != nil { report("a command that reads changes the store", exported) }
        try write(isSound: verification.isDone)
        if attack.findingCount == before { try FileManager.default.removeItem(atPath: directory) }
    }

    private func report(_ sentence: String, _ outcome: Outcome) {
        attack.report(name, "\(sentence): \(forgery)", outcome, directory: directory)
    }

    private func attempt(_ arguments: [String], hasFindings: Bool = false) throws -> Outcome {
        let outcome = try Child.run(attack.options.cambium, arguments, in: directory, milliseconds: 30_000)
        if let misconduct = outcome.misconduct(hasFindings: hasFindings) { report(misconduct, outcome) }
        return outcome
    }

    /// Checks that a store that verifies can be exported. If the log was not forged, the export must equal that of the original store.
    private func checkAnswers(_ verification: Outcome, _ exported: Outcome) throws {
        try checkJSON(exported)
        guard verification.isDone else { return }
        if !exported.isDone { report("verification calls the store sound, but it cannot be exported", exported) }
        if let sound, exported.output != sound { report("verification calls the store sound, but its export has changed", exported) }
    }

    /// Checks that each line of the output is JSON. If the command failed, its last line may be incomplete.
    private func checkJSON(_ outcome: Outcome) throws {
        for line in outcome.output.split(separator: UInt8(ascii: "\n")).dropLast(outcome.isDone ? 0 : 1) {
            do { _ = try JSONValue(parsing: Array(line)) } catch { return report("a line is not JSON: \(error)", outcome) }
        }
    }

    /// Checks that a write succeeds or is refused, and that nothing traps after it. A sound store must accept the write.
    private func write(isSound: Bool) throws {
        let inserted = try attempt(["insert", "store", "Tag", "name=attack"])
        // A forged schema may lack this entity or have another rule for it, so other exit codes are permitted.
        if isSound, inserted.code == 74 { report("verification calls the store sound, but it refuses a write", inserted) }
        _ = try attempt(["checkpoint", "store"])
        try checkJSON(try attempt(Self.export))
        guard isSound else { return }
        let verification = try attempt(["verify", "store", "--json"], hasFindings: true)
        if !verification.isDone { report("a sound store is not sound after a write", verification) }
    }
}

import Foundation
import Testing

/// `cambium replay --step` at a terminal, with the keys that Tests/python/replay_step.py types.
@Suite struct ReplayStepTests {
    /// Returns the exit code, or the negative number of a signal, and the text of the terminal.
    private func step(_ keys: [String], _ arguments: String...) throws -> (status: Int, text: String) {
        let place = try HistoryCommandTests.workplace()
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let script = tests.appending(path: "python/replay_step.py").path
        let typed = String(decoding: try JSONEncoder().encode(keys), as: UTF8.self)
        let outcome = try place.run(
            executable: URL(filePath: "/usr/bin/env"), ["python3", script, Workplace.binary.path, typed] + arguments)
        let result = try #require(try outcome.json.first, "\(outcome.errors)")
        return (try #require(result["status"] as? Int), try #require(result["text"] as? String))
    }

    @Test func `the Enter key shows the next transaction, and the command ends after the last one`() throws {
        let shown = try step(["\n", "\n", "\n"], "--from", "3")
        #expect(shown.status == 0)
        let parts = shown.text.components(separatedBy: "Enter: transaction ")
        #expect(parts.map { $0.first } == ["3", "4", "5", "6"] && parts.count == 4)
        #expect(parts[1].hasPrefix("4, q: end \n4  ") && parts[3].contains("- Note/1 (1)"))
    }

    @Test(arguments: ["q\n", "Q\n", "\u{4}"]) func `q and the end of input end the command`(key: String) throws {
        let shown = try step(["\n", key], "--from", "2")
        #expect(shown.status == 0 && shown.text.hasSuffix("\n") && !shown.text.contains("\n4  "))
    }

    @Test func `ctrl-c ends the command by its signal`() throws {
        let shown = try step(["\u{3}"], "--from", "2")
        #expect(shown.status == -Int(SIGINT) && !shown.text.contains("\n3  "))
    }

    @Test func `the command waits only before a transaction that it shows`() throws {
        let shown = try step(["\n", "\n", "\n"], "--from", "1", "--entity", "Memo")
        #expect(shown.text.components(separatedBy: "Enter: transaction ").dropFirst().map { $0.first } == ["4", "6"], "\(shown.text)")
    }

    @Test func `the steps continue after the transaction of a condition`() throws {
        let shown = try step(["q\n"], "--until", "title == 'b'")
        #expect(shown.status == 0 && shown.text.hasPrefix("3  ") && shown.text.contains("holds for Note/1 (1); found by a scan"))
        #expect(shown.text.contains("Enter: transaction 4, q: end "))
    }
}

import Foundation
import Testing

@testable import CambiumCommand

/// Keys and signals that a prompt receives at a terminal. The scenarios are in Tests/python/prompt_terminal.py. Each of them kills a
/// prompt that it has waited for too long, and needs no terminal of its caller.
@Suite struct PromptTerminalTests {
    private let place: Workplace

    init() throws { place = try Workplace.withStore() }

    private func expectSuccess(_ scenario: String, _ numbers: Int32...) throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let script = tests.appending(path: "python/prompt_terminal.py").path
        let arguments = ["--signal=KILL", "60", "python3", script, Workplace.binary.path, scenario] + numbers.map { "\($0)" }
        let outcome = try place.run(executable: URL(filePath: "/usr/bin/timeout"), arguments)
        #expect(outcome.output == "ok\n", "\(outcome.output)\(outcome.errors)")
    }

    /// Adds so many objects that a query over all their pairs takes longer than a scenario, and a text that no terminal takes at once.
    private func addObjects() throws {
        let items = (0..<10_000).map { #"{"name":"\#($0)"}"# }.joined(separator: ",")
        let text = String(repeating: "x", count: 300_000)
        let row = #"{"id":1,"memos":[{"text":"\#(text)"}],"items":[\#(items)]}"#
        #expect(try place.run("import", "notes", "Note", "-", input: row).code == 0)
    }

    @Test(arguments: [SIGTERM, SIGHUP, SIGQUIT])
    func `a signal ends the prompt after the terminal is restored`(number: Int32) throws {
        try expectSuccess("ends_at_the_prompt", number)
    }

    @Test func `a signal ends the prompt during a query`() throws {
        try addObjects()
        try expectSuccess("ends_during_a_query", SIGTERM)
    }

    @Test func `a person edits a line, with letters of several bytes and columns`() throws {
        #expect(try place.run("insert", "notes", "Note", "id=1", "title=漢字 ñ").code == 0)
        try expectSuccess("edits_lines")
    }

    @Test func `earlier lines are recalled and searched, in the next session, too`() throws {
        try expectSuccess("recalls_lines")
        let history = String(decoding: try place.bytes(of: "cambium/history"), as: UTF8.self)
        #expect(history == "Note count\nItem count\nNote count\nItem count\nNote count\n")
    }

    @Test func `the tab key completes names, or lists them`() throws { try expectSuccess("completes_names") }

    @Test func `ctrl-c discards the line, and SIGINT does the same`() throws { try expectSuccess("gives_a_new_line") }

    @Test func `ctrl-c cancels a query, and later lines are run`() throws {
        try addObjects()
        try expectSuccess("cancels_a_query")
    }

    @Test func `a second interruption ends the prompt if a line is not cancelled yet`() throws {
        try addObjects()
        try expectSuccess("ends_at_the_second_interruption")
    }

    @Test func `a stopped prompt restores the terminal, and changes it again when it continues`() throws {
        try expectSuccess("stops_and_continues")
    }

    @Test func `signals that end the program come first, and the later one of a stop and a continuation counts`() {
        func order(_ arrived: Int32...) -> [Int32] { SignalPipe.Events(arrived, hasInput: false).signals }
        #expect(order(SIGINT, SIGCONT, SIGTERM, SIGINT) == [SIGTERM, SIGCONT, SIGINT, SIGINT])
        #expect(order(SIGTSTP, SIGCONT) == [SIGCONT])
        #expect(order(SIGCONT, SIGTSTP) == [SIGTSTP])
        #expect(order().isEmpty)
    }
}

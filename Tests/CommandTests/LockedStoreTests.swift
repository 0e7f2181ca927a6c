import Foundation
import Testing

/// Commands that write to a store that another process has open.
@Suite struct LockedStoreTests {
    /// Every command that writes to an existing store, with a change that the store accepts.
    private static let commands = [
        "insert notes Note id=9", "set notes Note/1 title=x", "link notes Note/1 items Item/1", "unlink notes Note/1 items Item/1",
        "move notes Note/1 memos Memo/1 --to 0", "delete notes Note/1", "clone notes Note/1 --set id=8", "label notes now",
        "import notes Note rows.json", "schema notes --set schema.json", "checkpoint notes", "compact notes --retain snapshots:1",
        "apply other notes",
    ]

    private func place() throws -> Workplace {
        try Workplace.copy {
            let place = try Workplace.withStore()
            try place.write("{\"id\":7,\"items\":[{\"name\":\"a\"}],\"memos\":[{}]}\n", to: "rows.json")
            #expect(try place.run("import", "notes", "Note", "rows.json").code == 0)
            try place.copy("notes", to: "other")
            return place
        }
    }

    private func run(_ place: Workplace, _ command: String, _ options: [String] = []) throws -> Workplace.Outcome {
        try place.runWithoutWaiting(command.split(separator: " ").map(String.init) + options)
    }

    /// Holds the lock of the store `notes`, as a daemon does, while `body` runs.
    private func locking(_ place: Workplace, _ body: () throws -> Void) throws {
        let descriptor = open(place.path("notes/LOCK"), O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        try #require(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        try body()
    }

    @Test(arguments: commands)
    func `a command that writes while a daemon has the store names the guide and the option to wait`(command: String) throws {
        let place = try place()
        try locking(place) {
            let outcome = try run(place, command)
            #expect(outcome.code == 75, "\(outcome.errors)")
            let lines = outcome.errors.split(separator: "\n")
            #expect(lines.count == 3 && lines[0].contains("Another process"))
            #expect(lines[1].contains("cannot write while a daemon has the store open") && lines[1].contains("Docs/Guides/Daemon.md"))
            #expect(lines[2].contains("--wait SECONDS"))
        }
        #expect(try run(place, command, ["--wait", "10"]).code == 0)
    }

    @Test func `a command that has waited in vain states how long it waited`() throws {
        let place = try place()
        try locking(place) {
            let outcome = try run(place, "insert notes Note id=9", ["--wait", "0"])
            #expect(outcome.code == 75 && outcome.errors.contains("The command has waited for 0 seconds."), "\(outcome.errors)")
            #expect(try run(place, "show notes Note/1").code == 0)
        }
        for wait in ["-1", "86401"] { #expect(try run(place, "insert notes Note id=9", ["--wait", wait]).code == 64) }
    }

    @Test func `the guide that the error names has the section that it names`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let guide = String(decoding: try Data(contentsOf: root.appending(path: "Docs/Guides/Daemon.md")), as: UTF8.self)
        #expect(guide.contains("\n## Commands beside a daemon\n"))
    }
}

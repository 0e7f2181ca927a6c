import Foundation
import Testing

/// Commands during which one system call on the files of a store fails.
@Suite struct FailingCallTests {
    /// The calls of the volume.
    private static let calls = [
        "open", "pread", "pwrite", "fstat", "ftruncate", "fdatasync", "fsync", "flock", "fallocate", "stat", "lstat", "mkdir", "rmdir",
        "unlink", "rename", "link", "posix_fallocate", "statx", "mmap", "fdopendir", "readdir", "realpath",
    ]

    private static let commands = ["find notes Note --count", "insert notes Note id=9", "init new --schema schema.json"]

    /// The maximum number of times that a command is repeated, each time with another failing call of the same name.
    private static let numberMax = 3

    /// Advice that would do harm, or that is wrong, if only the disk has failed.
    private static let harm = ["Move", "restore", "Restore", "not a regular file", "not a directory", "corrupt", "CORRUPT", "Remove"]

    /// Returns a workplace with the library that lets a call fail, a store with checkpoints and retired segments, and a whole store.
    private func place() throws -> Workplace {
        try Workplace.copy {
            let place = try Workplace.withStore()
            try place.write("{\"id\":7}\n", to: "rows.json")
            for command in ["insert notes Note id=1", "checkpoint notes", "insert notes Note id=2"] { try check(run(place, command)) }
            try place.copy("notes", to: "whole")
            for command in ["compact notes --retain snapshots:1", "checkpoint notes", "insert notes Note id=3"] {
                try check(run(place, command))
            }
            let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            let source = tests.appending(path: "FailingCall/failing_call.c").path
            let compiler = ["cc", "-shared", "-fPIC", "-o", "failing_call.so", source, "-ldl"]
            try check(place.run(executable: URL(filePath: "/usr/bin/env"), compiler))
            return place
        }
    }

    private func run(_ place: Workplace, _ command: String) throws -> Workplace.Outcome {
        try place.run(executable: Workplace.binary, command.split(separator: " ").map(String.init))
    }

    private func check(_ outcome: Workplace.Outcome) throws { try #require(outcome.code == 0, "\(outcome.errors)") }

    /// Runs a command during which a call fails. Returns its outcome, and the path of the call; `nil` if the command makes fewer calls.
    private func run(_ command: String, failing call: String, _ number: Int) throws -> (outcome: Workplace.Outcome, path: String)? {
        let place = try place()
        let variables = [
            "LD_PRELOAD=\(place.path("failing_call.so"))", "CAMBIUM_FAILING_CALL=\(call)", "CAMBIUM_FAILING_NUMBER=\(number)",
            "CAMBIUM_FAILING_PATH=\(place.directory.path)/", "CAMBIUM_FAILING_RECORD=\(place.path("record"))",
        ]
        let arguments = variables + [Workplace.binary.path] + command.split(separator: " ").map(String.init)
        let outcome = try place.run(executable: URL(filePath: "/usr/bin/env"), arguments)
        guard FileManager.default.fileExists(atPath: place.path("record")) else { return nil }
        let path = String(decoding: try place.bytes(of: "record"), as: UTF8.self).split(separator: "\n")[0]
        return (outcome, URL(filePath: String(path)).lastPathComponent)
    }

    @Test(arguments: calls)
    func `a command states the failure, the file and a harmless remedy, whichever call of the volume fails`(call: String) throws {
        for command in Self.commands {
            for number in 1...Self.numberMax {
                guard let (outcome, path) = try run(command, failing: call, number) else { break }
                if outcome.code == 0 { continue }  // The command does not need the call, for example because it only ends a wait.
                let text = outcome.errors + outcome.output
                let context = "\(command), \(call) \(number) of \(path): \(outcome.code) \(text)"
                #expect([73, 74].contains(outcome.code), "\(context)")
                #expect(text.contains("Input/output error") && text.contains(path), "\(context)")
                #expect(text.contains("Check the disk and the file system."), "\(context)")
                #expect(!Self.harm.contains { text.contains($0) }, "\(context)")
            }
        }
    }
}

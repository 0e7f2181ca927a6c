import Foundation
import Synchronization
import Testing

@testable import CambiumCommand

@Suite struct HelpTests {
    private let place: Workplace

    init() throws { place = try Workplace() }

    /// The help texts that were printed, by command, so that each is printed once for all tests.
    private static let texts = Mutex<[String: String]>([:])

    private func help(_ command: String?) throws -> String {
        if let text = Self.texts.withLock({ $0[command ?? ""] }) { return text }
        let arguments = (command.map { [$0] } ?? []) + ["--help"]
        let outcome = try place.run(executable: Workplace.binary, arguments)
        #expect(outcome.code == 0 && outcome.errors.isEmpty)
        Self.texts.withLock { $0[command ?? ""] = outcome.output }
        return outcome.output
    }

    /// The names of all commands, as the help of the program lists them.
    private func commands() throws -> [String] {
        try help(nil).split(separator: "\n").drop { !$0.hasSuffix("SUBCOMMANDS:") }
            .compactMap { $0.firstMatch(of: /^  ([a-z-]+) +[A-Z]/).map { String($0.1) } }
    }

    /// The words of each example in a help text.
    private func examples(_ help: String) -> [[String]] {
        help.split(separator: "\n", omittingEmptySubsequences: false).drop { $0 != "Example:" && $0 != "Examples:" }.dropFirst()
            .prefix { !$0.isEmpty }.map { words(String($0)) }
    }

    /// Splits a line at spaces, except within single quotes, as a shell does.
    private func words(_ line: String) -> [String] {
        var (words, isQuoted, isInWord) = ([String](), false, false)
        for character in line {
            switch character {
            case "'":
                isQuoted.toggle()
                if !isInWord { words.append("") }
                isInWord = true
            case " " where !isQuoted: isInWord = false
            default:
                if !isInWord { words.append("") }
                isInWord = true
                words[words.count - 1].append(character)
            }
        }
        return words
    }

    @Test func `the program's help lists every command once`() throws {
        let commands = try commands()
        #expect(commands.count == 38 && Set(commands).count == 38, "\(commands)")
        #expect(commands == CambiumCommand.configuration.subcommands.compactMap { $0.configuration.commandName })
    }

    @Test func `every help text has examples of its command that the command line accepts`() throws {
        for command in try commands() {
            let examples = examples(try help(command))
            #expect((1...7).contains(examples.count), "\(command)")
            for words in examples {
                #expect(words.prefix(2) == ["cambium", command], "An example takes more than one line.")
                #expect(throws: Never.self, "\(words)") { _ = try CambiumCommand.parseAsRoot(Array(words.dropFirst())) }
            }
        }
        for words in examples(try help(nil)) {
            #expect(throws: Never.self, "\(words)") { _ = try CambiumCommand.parseAsRoot(Array(words.dropFirst())) }
        }
    }

    @Test func `the date in the help of find can be compared with a date`() throws {
        let value = try #require(examples(try help("find")).joined().first { $0.hasPrefix("t=") })
        let outcome = try Workplace.withStore().run("find", "notes", "Note", "--where", "when > $t", "--set", value)
        #expect(outcome.code == 0, "\(outcome.errors)")
    }

    @Test func `no help text has a number that only a program knows, or a default of 0 or 1`() throws {
        for command in try [nil] + commands().map(Optional.some) {
            let text = try help(command)
            #expect(text.firstMatch(of: /[0-9]{16,}/) == nil, "\(command ?? "cambium")")
            #expect(!text.contains("(default: 0)") && !text.contains("(default: 1)"), "\(command ?? "cambium")")
        }
    }

    @Test func `the shell completes a file or a directory for an option that takes one`() throws {
        let script = try place.run("--generate-completion-script", "bash").output
        for option in ["--schema", "--set", "--mapping", "--map"] {
            #expect(script.contains("'\(option)')\n        __cambium_add_completions -f\n"), "\(option)")
        }
        for option in ["--archive", "--to"] {
            #expect(script.contains("'\(option)')\n        __cambium_add_completions -d\n"), "\(option)")
        }
        #expect(!script.contains("'--mapping')\n        return\n") && !script.contains("'--archive')\n        return\n"))
    }

    @Test func `a command with more than six options has them in groups`() throws {
        for command in try commands() {
            let help = try help(command)
            let sections = help.split(separator: "\n\n").filter { $0.split(separator: "\n").first?.hasSuffix(":") == true }
            for section in sections {
                let count = section.matches(of: /\n  --[a-z]/).count
                #expect(count <= 6, "\(command): \(section.prefix(40))")
            }
        }
    }
}

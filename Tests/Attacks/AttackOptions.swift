import Foundation

/// The arguments of the program.
struct AttackOptions {
    static let usage = "usage: Attacks --cambium PATH [--only PREFIX] [--seed N] [--full] [--rounds N] [--work DIRECTORY]"

    /// The absolute path of the command line that is attacked.
    private(set) var cambium = ""
    /// Only attacks with names that begin with this text run. If it is empty, all attacks run.
    private(set) var only = ""
    private(set) var seed = UInt64(Date().timeIntervalSince1970)
    /// Whether every command runs against every corrupt file. Otherwise the seed chooses some commands for each file.
    private(set) var isFull = false
    /// The number of times that each pair of commands runs side by side, and that each command is killed.
    private(set) var roundCount = 5
    private(set) var work = FileManager.default.temporaryDirectory.appending(path: "cambium-attacks-\(getpid())").path

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            if name == "--full" {
                isFull = true
                continue
            }
            guard let value = rest.popFirst() else { throw Misuse("\(name) needs a value; \(Self.usage)") }
            switch name {
            case "--cambium": cambium = URL(filePath: value).standardizedFileURL.path
            case "--only": only = value
            case "--seed": seed = try Self.number(value)
            case "--rounds": roundCount = Int(try Self.number(value))
            case "--work": work = URL(filePath: value).standardizedFileURL.path
            default: throw Misuse("\(name) is not an option; \(Self.usage)")
            }
        }
        guard FileManager.default.isExecutableFile(atPath: cambium) else {
            throw Misuse("'\(cambium)' is not a program; \(Self.usage)")
        }
    }

    private static func number(_ text: String) throws -> UInt64 {
        guard let number = UInt64(text), number < 1 << 62 else { throw Misuse("'\(text)' is not a number; \(usage)") }
        return number
    }
}

/// An error that is not a finding: the arguments are wrong, or the preparations failed.
struct Misuse: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

import Foundation
import Testing

/// The commands of a guide print what the guide shows.
@Suite struct GuideTests {
    private static let guides = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Docs/Guides")

    /// The files of a guide, its commands, and their output.
    private struct Guide {
        var files: [(name: String, text: String)] = []
        var commands: [(line: String, output: String)] = []

        init(_ name: String) throws {
            let text = try String(contentsOf: GuideTests.guides.appending(path: name), encoding: .utf8)
            for match in text.matches(of: /`([^`\n]+)`:\n\n```json\n((?s).*?)```/) { files.append((String(match.1), String(match.2))) }
            for block in text.matches(of: /```console\n((?s).*?)```/) {
                for line in block.1.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
                    if line.hasPrefix("$ ") {
                        commands.append((String(line.dropFirst(2)), ""))
                    } else if !commands.isEmpty {
                        commands[commands.count - 1].output += line + "\n"
                    }
                }
            }
        }
    }

    /// Replaces each UUID of a text with the number of its first appearance, removes times and lengths, and removes
    /// spaces at the ends of lines.
    private struct Names {
        private var numbers: [String: Int] = [:]

        mutating func named(_ text: String) -> String {
            var text = text.replacing(/\d{4}-\d\d-\d\dT[\d:.]+Z/, with: "<time>")
            for match in text.matches(of: /[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}/) {
                let uuid = match.0.lowercased()
                numbers[uuid] = numbers[uuid] ?? numbers.count
            }
            for (uuid, number) in numbers {
                for spelling in [uuid, uuid.uppercased()] { text = text.replacing(spelling, with: "<\(number)>") }
            }
            // The length varies with the time since the previous transaction, which is encoded in it.
            text = text.replacing(/\d+ bytes of log/, with: "<n> bytes of log")
            return text.replacing(/[ ]+\n/, with: "\n")
        }
    }

    @Test(arguments: ["FromMOCloner.md"])
    func `each command of a guide prints the output in the guide`(name: String) throws {
        let guide = try Guide(name)
        #expect(guide.files.count == 2 && guide.commands.count > 12)
        let place = try Workplace()
        var (expectedNames, foundNames) = (Names(), Names())
        for file in guide.files {
            try place.write(file.text, to: file.name)
            #expect(expectedNames.named(file.text) == foundNames.named(file.text))
        }
        for (line, output) in guide.commands {
            let command = line.hasPrefix("cambium ") ? "'\(Workplace.binary.path)'" + line.dropFirst(7) : line
            let outcome = try place.run(executable: URL(filePath: "/bin/sh"), ["-c", command + " 2>&1"])
            #expect(foundNames.named(outcome.output) == expectedNames.named(output), "\(line)")
        }
    }
}

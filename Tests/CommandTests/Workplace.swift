import Foundation
import Testing

/// A directory for one test, and the command line that runs in it.
final class Workplace {
    let directory: URL

    struct Outcome {
        let code: Int32
        let output: String
        let errors: String

        /// The lines of the output, each of which must be JSON.
        var json: [[String: Any]] {
            get throws {
                try output.split(separator: "\n").map { line in
                    try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
                }
            }
        }
    }

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "cambium-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }  // A failure is harmless: the directory is temporary.

    /// Returns a workplace with a schema in `schema.json` and a store in `notes`.
    static func withStore() throws -> Workplace {
        try copy {
            let place = try Workplace()
            try place.write(notes, to: "schema.json")
            #expect(try place.run("init", "notes", "--schema", "schema.json").code == 0)
            return place
        }
    }

    static let notes = """
        { "entities": {
            "Note": { "identity": ["id"],
              "attributes": { "id": {"type": "int64"}, "title": {"type": "string", "default": "", "maxLength": 9},
                              "when": {"type": "date", "optional": true} },
              "relationships": { "items": {"to": "Item", "many": true, "inverse": "note", "onDelete": "cascade"},
                                 "memos": {"to": "Memo", "many": true, "ordered": true, "inverse": "note"} } },
            "Item": { "attributes": { "name": {"type": "string", "optional": true} },
                      "relationships": { "note": {"to": "Note", "inverse": "items"} } },
            "Memo": { "attributes": { "text": {"type": "string", "optional": true} },
                      "relationships": { "note": {"to": "Note", "inverse": "memos"} } } } }
        """

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: directory.appending(path: name))
    }

    func bytes(of name: String) throws -> Data { try Data(contentsOf: directory.appending(path: name)) }

    /// The path of the command line. The build puts it beside the tests.
    static let binary: URL = {
        let tests = URL(filePath: CommandLine.arguments[0])
        let sibling = tests.deletingLastPathComponent().appending(path: "cambium")
        if FileManager.default.isExecutableFile(atPath: sibling.path) { return sibling }
        return Bundle.main.bundleURL.deletingLastPathComponent().appending(path: "cambium")
    }()

    func run(_ arguments: String..., input: String = "") throws -> Outcome {
        try run(executable: Self.binary, arguments, input: input)
    }

    func run(executable: URL, _ arguments: [String], input: String = "") throws -> Outcome {
        try write(input, to: ".input")
        let names = [".output-\(UUID().uuidString)", ".errors-\(UUID().uuidString)"]
        for name in names { try write("", to: name) }
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.currentDirectoryURL = directory
        process.standardInput = try FileHandle(forReadingFrom: directory.appending(path: ".input"))
        process.standardOutput = try FileHandle(forWritingTo: directory.appending(path: names[0]))
        process.standardError = try FileHandle(forWritingTo: directory.appending(path: names[1]))
        try process.run()
        process.waitUntilExit()
        let texts = try names.map { String(decoding: try bytes(of: $0), as: UTF8.self) }
        return Outcome(code: process.terminationStatus, output: texts[0], errors: texts[1])
    }
}

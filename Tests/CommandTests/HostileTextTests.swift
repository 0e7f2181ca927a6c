import CambiumTesting
import Foundation
import Testing

/// Text that would control a terminal, hide from a reader, or look like another line.
@Suite struct HostileTextTests {
    private static let texts = [
        "a\u{1B}[2J\u{1B}]0;title\u{7}", "a\r", "a\u{9B}31m", "a\n9  2026-01-01T00:00:00Z  1 byte  root", "a\u{7F}\u{8}",
        "a\u{2028}b\u{2029}",
        "a\u{202E}cba\u{2069}", "a\u{200F}\u{61C}",
    ]

    private func isClean(_ text: String) -> Bool {
        !text.unicodeScalars.contains { scalar in
            let value = scalar.value
            return value != 0x0A
                && (value < 0x20 || 0x7F...0x9F ~= value || [0x61C, 0x200E, 0x200F].contains(value) || 0x2028...0x202E ~= value)
                || 0x2066...0x2069 ~= value
        }
    }

    private func place(_ text: String) throws -> Workplace {
        let place = try Workplace.withStore()
        #expect(try place.run("insert", "notes", "Memo", "text=\(text)", "--actor", text, "--message", text).code == 0)
        #expect(try place.run("label", "notes", "before").code == 0)
        return place
    }

    @Test(.enabled(if: LongTests.areWanted), arguments: texts)
    func `output for people and JSON contain no control character of the data`(text: String) throws {
        let place = try place(text)
        for arguments in [
            ["show", "notes", "Memo/1"], ["find", "notes", "Memo"], ["log", "notes"], ["log", "notes", "--ops"], ["export", "notes"],
            ["find", "notes", "Memo", "--json"], ["log", "notes", "--ops", "--json"],
            ["diff", "notes", "1"], ["diff", "notes", "1", "--json"],
        ] {
            let outcome = try place.run(executable: Workplace.binary, arguments)
            #expect(outcome.code == 0 && isClean(outcome.output), "\(arguments)")
        }
        #expect(try place.run("log", "notes").output.split(separator: "\n").count == 3)
        #expect(try place.run("find", "notes", "Memo").output.split(separator: "\n").count == 1)
        #expect(try place.run("show", "notes", "Memo/1", "--json").json.first?["text"] as? String == text)
    }

    @Test(.enabled(if: LongTests.areWanted), arguments: texts)
    func `an error is one line without the control characters of quoted text`(text: String) throws {
        let place = try Workplace.withStore()
        let value = text.replacingOccurrences(of: "\n", with: "\\n").replacingOccurrences(of: "\r", with: "\\r")
        let escaped = value.unicodeScalars.map { $0.value < 0x20 ? "\\u00" + String($0.value + 0x100, radix: 16).dropFirst() : String($0) }
        try place.write("{\"id\":1,\"when\":\"\(escaped.joined())\"}\n{\"id\":2,\"\(escaped.joined())\":1}", to: "rows.json")
        for arguments in [
            ["show", "notes", text], ["find", "notes", text], ["show", text, "Note/1"], ["insert", "notes", "Note", "id=\(text)"],
            ["import", "notes", "Note", "rows.json"], ["import", "notes", "Note", text],
            ["show", "notes", "Note/1", "--at", "label:\(text)"],
            ["import", "notes", "Note", "rows.json", "--on-error", "skip"], ["insert", "notes", "Note", "\(text)=1"],
        ] {
            let outcome = try place.run(executable: Workplace.binary, arguments)
            #expect(outcome.code != 0 && isClean(outcome.errors + outcome.output), "\(arguments)")
            #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
        }
        let usage = try place.run("show", "notes", "Note/1", "--\(text)")
        #expect(usage.code == 64 && isClean(usage.errors))
    }

    @Test(.enabled(if: LongTests.areWanted), arguments: texts)
    func `an export of hostile text is imported as the same text`(text: String) throws {
        let place = try place(text)
        let export = try place.run("export", "notes", "--references", "identity").output
        try place.write(export, to: "memos.json")
        #expect(try place.run("import", "notes", "Memo", "memos.json").code == 0)
        #expect(try place.run("show", "notes", "Memo/2", "--json").json.first?["text"] as? String == text)
    }
}

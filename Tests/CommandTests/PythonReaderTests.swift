import Cambium
import CambiumBytes
import CambiumLog
import CambiumTesting
import Foundation
import Testing

/// The second implementation of the format, which was written from Docs/Formats/FORMAT.md and Docs/Formats/PAGES.md alone.
@Suite struct PythonReaderTests {
    private func read(_ place: Workplace, _ store: String, with name: String = "read_store.py") throws -> Workplace.Outcome {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let script = tests.appending(path: "python/\(name)").path
        return try place.run(executable: URL(filePath: "/usr/bin/env"), ["python3", script, store])
    }

    @Test func `a reader that was written from the format alone lists the same transactions`() throws {
        let place = try Workplace.withStore()
        #expect(try place.run("insert", "notes", "Note", "id=1", "title=Köln", "when=2026-01-31T12:00:00.5Z", "--actor", "jane").code == 0)
        let rows = (0..<200).map { "{\"id\":\($0),\"title\":\"n\($0)\",\"items\":[{\"name\":\"a\"}],\"memos\":[{},{}]}" }
        #expect(try place.run("import", "notes", "Note", "-", "--message", "rows", input: rows.joined(separator: "\n")).code == 0)
        #expect(try place.run("move", "notes", "Note/1", "memos", "Memo/4", "--to", "0").code == 0)
        #expect(try place.run("delete", "notes", "Note/7", "--actor", "jane").code == 0)
        let cloned = try place.run(
            "clone", "notes", "Note/1", "--set", "id=900", "--exclude-at-root", "memos", "--depth", "5", "--key", "exclude=without")
        #expect(cloned.code == 0, "\(cloned.errors)")
        let outcome = try read(place, "notes")
        #expect(outcome.code == 0, "\(outcome.errors)")
        let lines = try outcome.json
        let entries = try place.run("log", "notes", "--json", "--ops").json
        #expect(lines.count == entries.count + 1)
        for (line, entry) in zip(lines, entries) {
            #expect(line["transaction"] as? Int == entry["transaction"] as? Int && line["actor"] as? String == entry["actor"] as? String)
            let kinds = [line, entry].map { ($0["ops"] as? [[String: Any]])?.map { $0["op"] as? String } }
            #expect(kinds[0] == kinds[1])
        }
        let verified = try #require(try place.run("verify", "notes", "--json").json.first)
        #expect(lines.last?["root"] as? String == verified["root"] as? String)
    }

    /// Changes of one byte in a slot of HEAD. The first one keeps the slot valid; each of the others makes it invalid.
    private static let headChanges: [(offset: Int, byte: UInt8)] = [(29, 1), (15, 128), (40, 2), (67, 1), (100, 1)]

    @Test func `the second reader ignores the same slots of HEAD`() throws {
        let place = try Workplace.withStore()
        #expect(try place.run("insert", "notes", "Note", "id=1").code == 0)
        let head = [UInt8](try place.bytes(of: "notes/HEAD"))
        let slots = [head.prefix(128), head.dropFirst(128)].map { Array($0) }
        let newest = slots[0][8..<16].reversed().lexicographicallyPrecedes(slots[1][8..<16].reversed()) ? 1 : 0
        for (offset, byte) in Self.headChanges {
            var forged = slots
            // The position is beyond the end of the log, so a valid slot means that the log was cut.
            forged[newest][29] = 1
            forged[newest][offset] = byte
            let checksum = CRC32C.checksum(Array(forged[newest].prefix(124)))
            for index in 0..<4 { forged[newest][124 + index] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * index)) }
            try Data(forged.joined()).write(to: place.directory.appending(path: "notes/HEAD"))
            let isCut = offset == 29
            #expect(try (place.run("log", "notes").code != 0) == isCut, "offset \(offset)")
            #expect(try (read(place, "notes").code != 0) == isCut, "offset \(offset)")
        }
    }

    @Test func `a reader of pages that was written from the document finds the digest of each checkpoint`() throws {
        let place = try Workplace.withStore()
        let rows = (0..<300).map { number in
            let name = String(repeating: "é", count: number)  // From 128 on, the value has more than 255 bytes.
            return "{\"id\":\(number),\"title\":\"n\(number)\",\"items\":[{\"name\":\"\(name)\"}],\"memos\":[{},{}]}"
        }
        #expect(try place.run("import", "notes", "Note", "-", input: rows.joined(separator: "\n")).code == 0)
        #expect(try place.run("move", "notes", "Note/1", "memos", "Memo/2", "--to", "0").code == 0)
        #expect(try place.run("clone", "notes", "Note/299", "--set", "id=900").code == 0)
        #expect(try place.run("label", "notes", "first", "--request", "a").code == 0)
        for (number, options) in [[], ["--compression", "lz4"]].enumerated() {
            #expect(try place.run(executable: Workplace.binary, ["checkpoint", "notes"] + options).code == 0)
            let outcome = try read(place, "notes", with: "read_pages.py")
            let verified = try #require(try place.run("verify", "notes", "--json").json.first)
            #expect(outcome.code == 0, "\(outcome.errors)")
            #expect(try outcome.json.last?["digest"] as? String == verified["digest"] as? String)
            #expect(try (outcome.json.last?["labels"] as? [String: Any])?.keys.sorted() == ["first"])
            #expect(try place.run("delete", "notes", "Note/\(7 + number)").code == 0)
        }
    }

    /// Returns a schema whose relationships are ordered at both ends, with a default and new UUIDs for clones.
    private static func shelves(count: String, more: String = "") -> String {
        """
        { "entities": {
            "Shelf": { "identity": ["code"],
              "attributes": { "code": {"type": "string", "optional": true, "userInfo": {"exclude": ""}}\(more) },
              "relationships": { "likes": {"to": "Shelf", "many": true, "ordered": true, "inverse": "likedBy"},
                                 "likedBy": {"to": "Shelf", "many": true, "ordered": true},
                                 "notes": {"to": "Note", "many": true, "inverse": "shelf", "onDelete": "cascade"} } },
            "Note": { "attributes": { "count": {"type": "\(count)", "default": -3},
                                      "key": {"type": "uuid", "optional": true, "userInfo": {"rebuild": "uuid"}} },
                      "relationships": { "shelf": {"to": "Shelf"} } } } }
        """
    }

    /// Returns three attributes whose types change.
    private static func converted(_ flag: String, _ truth: String, _ big: String, _ number: String, _ part: String) -> String {
        #", "flag": {"type": "\#(flag)", "default": \#(truth)}, "big": {"type": "\#(big)", "default": \#(number)}"#
            + #", "part": {"type": "\#(part)", "default": 0.1}"#
    }

    private static let files = [
        "first.json": shelves(count: "int16", more: converted("bool", "true", "int64", "9007199254740993", "double")),
        "next.json": shelves(
            count: "int64",
            more: #", "color": {"type": "string", "default": "red"}"# + converted("int32", "2", "double", "0", "decimal")),
        "last.json": shelves(count: "int64", more: converted("bool", "false", "double", "0", "double")),
        "rows.json": """
        [{"code": "a", "likes": ["b", "c", "d"], "notes": [{}, {"count": 5}]}, {"code": "b", "likes": ["d", "a", "c"]},
         {"code": "c", "likes": ["c", "a"]}]
        """,
        // Members that stay in one of the ordered lists keep their places in the lists at the other end.
        "more.json": """
        [{"code": "a", "likes": ["c", "d", "b"], "likedBy": ["c", "b"]},
         {"code": "d", "likes": ["c", "b", "a"], "notes": [{"key": null}]}]
        """,
    ]

    private static let commands = [
        "init store --schema first.json", "insert store Shelf code=x", "import store Shelf rows.json", "import store Shelf more.json",
        "move store Shelf/2 likes Shelf/4 --to 0", "clone store Shelf/2 --set code=e", "clone store Shelf/3 Shelf/2 --share likes",
        "insert store Note shelf=Shelf/1",
        "schema store --set next.json --convert", "unlink store Shelf/3 likes Shelf/2",
        "insert store Shelf code=z", "delete store Shelf/2", "schema store --set last.json --convert",
    ]

    /// Siblings with an attribute of one name, and relationships with several members.
    private static let siblings = [
        "first.json": """
        {"entities": {
          "Base": {"attributes": {"k": {"type": "int32"}}, "relationships": {
            "mates": {"to": "Base", "many": true, "ordered": true, "inverse": "back"},
            "back": {"to": "Base", "many": true, "inverse": "mates"}, "self": {"to": "Base", "many": true, "inverse": "self"},
            "one": {"to": "Base", "many": true}}},
          "Left": {"parent": "Base", "attributes": {"x": {"type": "bool", "optional": true}}},
          "Right": {"parent": "Base", "attributes": {"x": {"type": "decimal", "optional": true}}}}}
        """,
        "above.json": """
        {"entities": {
          "Top": {"abstract": true},
          "Base": {"parent": "Top",
            "attributes": {"k": {"type": "float"}, "x": {"type": "float", "optional": true, "default": 4}},
            "relationships": {
              "mates": {"to": "Base", "inverse": "back"}, "back": {"to": "Base", "inverse": "mates"},
              "self": {"to": "Base", "inverse": "self"},
              "one": {"to": "Base", "many": true, "inverse": "owner"}, "owner": {"to": "Base", "inverse": "one"}}},
          "Left": {"parent": "Base"}, "Right": {"parent": "Base"}}}
        """,
        "below.json": """
        {"entities": {
          "Top": {"attributes": {"k": {"type": "int32"}}}, "Base": {"parent": "Top"},
          "Left": {"parent": "Base", "attributes": {"y": {"type": "int32", "optional": true, "renamedFrom": "x"}}},
          "Right": {"parent": "Base", "attributes": {"x": {"type": "bool", "optional": true}}}}}
        """,
    ]

    private static let siblingCommands =
        ["init store --schema first.json"]
        + ["Left k=1 x=true", "Right k=16777217 x=0.123456789", "Base k=7", "Left k=2", "Base k=8"].map { "insert store \($0)" }
        + [
            "Left/1 mates Right/2", "Left/1 mates Base/3", "Left/4 mates Base/3", "Left/4 mates Right/2", "Base/5 mates Base/5",
            "Left/1 self Left/4", "Left/1 self Base/3", "Left/4 self Base/3", "Base/5 self Base/5", "Left/1 one Right/2",
            "Left/4 one Right/2",
        ].map { "link store \($0)" }
        + [
            "move store Left/1 mates Base/3 --to 0", "schema store --set above.json --convert", "insert store Base k=9",
            "schema store --set below.json --convert", "insert store Top k=5",
        ]

    @Test(arguments: [(files, commands), (siblings, siblingCommands)])
    func `a replay that was written from the documents has the digest of the log`(files: [String: String], commands: [String]) throws {
        let place = try Workplace()
        for (name, text) in files { try place.write(text, to: name) }
        for command in commands {
            let outcome = try place.run(executable: Workplace.binary, command.split(separator: " ").map(String.init))
            #expect(outcome.code == 0, "\(command): \(outcome.errors)")
        }
        let outcome = try read(place, "store", with: "replay_store.py")
        let verified = try #require(try place.run("verify", "store", "--json").json.first)
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(try outcome.json.last?["digest"] as? String == verified["digest"] as? String)
    }

    @Test(.enabled(if: LongTests.areWanted))
    func `sealed and merged segments and files of ops are read the same way`() throws {
        let place = try Workplace()
        let path = place.directory.appending(path: "sealed").path
        var tuning = LogTuning()
        (tuning.largeByteCount, tuning.opsFrameByteCount, tuning.segmentByteCount) = (300, 100, 2000)
        (tuning.mergedByteCountMax, tuning.sealedFrameByteCount, tuning.sealsInBackground) = (4000, 500, false)
        let schema = try Schema(SchemaDefinition { EntityDefinition("Note") { AttributeDefinition("text", .string) } })
        let volume = SystemVolume(root: path)
        try volume.createDirectory("")
        let store = try Store.create(volume, schema: schema, durability: .buffered(every: .seconds(60)), tuning: tuning)
        for number in 0..<200 {
            try store.write(Author(actor: "actor \(number % 3)", message: number % 2 == 0 ? "message" : nil)) { transaction in
                for copy in 0...(number % 20) { try transaction.insert("Note", ["text": .string("note \(number), \(copy)")]) }
            }
        }
        #expect(store.sealingFailure == nil)
        try store.close()
        let count = try volume.list("log").count
        for _ in 0..<4 { try Store.open(volume, durability: nil, tuning: tuning).close() }
        let names = try volume.list("log")
        #expect(names.count < count - 3)
        #expect(names.filter { $0.hasSuffix(".ops") }.count > 20 && names.filter { $0.hasSuffix(".log") }.count > 3)
        let outcome = try read(place, "sealed")
        #expect(outcome.code == 0, "\(outcome.errors)")
        let verification = try Store.verify(at: path)
        #expect(try outcome.json.last?["root"] as? String == verification.root && verification.isSound)
        for name in names {
            let file = "sealed/log/\(name)"
            let bytes = try place.bytes(of: file)
            var corrupt = bytes
            corrupt[bytes.count - 5] ^= 32
            try corrupt.write(to: place.directory.appending(path: file))
            #expect(try read(place, "sealed").code == 1 && !Store.verify(at: path).isSound, "\(name)")
            try bytes.write(to: place.directory.appending(path: file))
        }
    }

    @Test(.enabled(if: LongTests.areWanted)) func `the second reader finds the same corruption`() throws {
        let place = try Workplace.withStore()
        #expect(try place.run("insert", "notes", "Note", "id=1").code == 0)
        let path = "notes/log/00000000000000000001.log"
        let bytes = try place.bytes(of: path)
        for offset in stride(from: 0, to: bytes.count, by: 61) {
            var corrupt = bytes
            corrupt[offset] ^= 32
            try corrupt.write(to: place.directory.appending(path: path))
            #expect(try read(place, "notes").code == 1, "byte \(offset)")
        }
    }
}

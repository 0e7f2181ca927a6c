import Cambium
import CambiumLog
import CambiumTesting
import Foundation
import Testing

/// The second implementation of the format, which was written from Docs/FORMAT.md and Docs/PAGES.md alone.
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
        for arguments in [["checkpoint", "notes"], ["checkpoint", "notes", "--compression", "lz4"]] {
            #expect(try place.run(executable: Workplace.binary, arguments).code == 0)
            let outcome = try read(place, "notes", with: "read_pages.py")
            let verified = try #require(try place.run("verify", "notes", "--json").json.first)
            #expect(outcome.code == 0, "\(outcome.errors)")
            #expect(try outcome.json.last?["digest"] as? String == verified["digest"] as? String)
            #expect(try (outcome.json.last?["labels"] as? [String: Any])?.keys.sorted() == ["first"])
            #expect(try place.run("delete", "notes", "Note/7").code == 0)
        }
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

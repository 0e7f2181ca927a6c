import Foundation
import Testing

@Suite struct HistoryCommandTests {
    /// Returns a store whose transactions insert a note (2), change it (3), clone it (4), change the copy (5), and delete the note (6).
    static func workplace() throws -> Workplace {
        try Workplace.copy {
            let place = try Workplace.withStore()
            let row = #"{"id":1,"title":"a","items":[{"name":"x"}],"memos":[{"text":"m"},{"text":"n"}]}"#
            #expect(try place.run("import", "notes", "Note", "-", "--actor", "imp", input: row).code == 0)
            #expect(try place.run("set", "notes", "Note/1", "title=b", "--actor", "jane", "--message", "spelling").code == 0)
            #expect(try place.run("clone", "notes", "Note/1", "--set", "id=3", "--actor", "joe").code == 0)
            #expect(try place.run("set", "notes", "Note/2", "title=c", "--actor", "jane", "--request", "r7").code == 0)
            #expect(try place.run("delete", "notes", "Note/1", "--actor", "eve").code == 0)
            return place
        }
    }

    private func rows(_ place: Workplace, _ arguments: String...) throws -> [[String: Any]] {
        let outcome = try place.run(executable: Workplace.binary, ["history", "notes"] + arguments + ["--json"])
        #expect(outcome.code == 0, "\(outcome.errors)")
        return try outcome.json
    }

    /// The transaction, the object and the kind of each row.
    private func heads(_ rows: [[String: Any]]) -> [String] {
        rows.map { "\($0["transaction"] ?? "") \($0["_id"] ?? "-") \($0["change"] ?? "")" }
    }

    @Test func `the history of a copy continues with its source, newest first`() throws {
        let rows = try rows(Self.workplace(), "Note/2")
        #expect(heads(rows) == ["5 Note/2 changed", "4 Note/2 cloned", "3 Note/1 changed", "2 Note/1 inserted"])
        #expect(rows[0]["attribute"] as? String == "title" && rows[0]["before"] as? String == "b" && rows[0]["after"] as? String == "c")
        #expect(rows[0]["actor"] as? String == "jane" && rows[0]["request"] as? String == "r7" && rows[0]["message"] is NSNull)
        #expect(rows[1]["from"] as? String == "Note/1" && rows[1]["actor"] as? String == "joe")
        #expect(rows[2]["message"] as? String == "spelling")
    }

    @Test func `a row has the keys of the contract in their order`() throws {
        let output = try Self.workplace().run("history", "notes", "Note/2", "--limit", "1", "--json").output
        let pattern =
            #/\{"transaction":5,"time":"[^"]+Z","actor":"jane","message":null,"request":"r7","_id":"Note/2","change":"changed",/#
        #expect(output.firstMatch(of: pattern) != nil, "\(output)")
        #expect(output.hasSuffix(#""attribute":"title","before":"b","after":"c"}"# + "\n"))
    }

    @Test func `a deleted object is found by its id and by its former identity`() throws {
        let place = try Self.workplace()
        let expected = ["6 Note/1 deleted", "3 Note/1 changed", "2 Note/1 inserted"]
        #expect(try heads(rows(place, "Note/1")) == expected)
        #expect(try heads(rows(place, "Note:1")) == expected)
        #expect(try place.run("history", "notes", "Note:9").code == 66)
        #expect(try place.run("history", "notes", "Note/9").code == 66)
    }

    @Test func `links have the members that were added and removed, or both orders`() throws {
        let place = try Self.workplace()
        #expect(try place.run("move", "notes", "Note/2", "memos", "Memo/4", "--to", "0").code == 0)
        #expect(try place.run("unlink", "notes", "Note/2", "memos", "Memo/3").code == 0)
        let found = try rows(place, "Note/2", "--relationship", "memos", "--limit", "2")
        #expect(found[0]["removed"] as? [String] == ["Memo/3"] && found[0]["added"] as? [String] == [])
        #expect(found[1]["moved"] as? Bool == true && found[1]["after"] as? [String] == ["Memo/4", "Memo/3"])
        // The other end of the link has the change, too.
        #expect(try rows(place, "Memo/3", "--limit", "1")[0]["relationship"] as? String == "note")
    }

    @Test func `the option --change selects kinds of changes, and a copy is inserted`() throws {
        let place = try Self.workplace()
        #expect(try heads(rows(place, "--change", "deleted", "--entity", "Note")) == ["6 Note/1 deleted"])
        #expect(try heads(rows(place, "Note/2", "--change", "inserted")) == ["4 Note/2 cloned", "2 Note/1 inserted"])
        #expect(try heads(rows(place, "Note/2", "--change", "changed", "--limit", "1")) == ["5 Note/2 changed"])
        #expect(try heads(rows(place, "--change", "schema", "--change", "label")) == ["1 - schema"])
        #expect(try place.run("history", "notes", "--change", "moved").code == 64)
    }

    @Test func `the output for people has the request of a transaction, also in the log`() throws {
        let place = try Self.workplace()
        #expect(try place.run("history", "notes", "Note/2", "--limit", "1").output.contains("  jane  (request r7)\n"))
        #expect(try place.run("log", "notes", "--at", "5").output.hasSuffix("  jane  (request r7)\n"))
    }

    @Test(arguments: ["show", "blame"]) func `a missing identity leads to the history of a deleted object`(command: String) throws {
        let outcome = try Self.workplace().run(command, "notes", "Note:1")
        #expect(outcome.code == 66 && outcome.errors.contains("'cambium history STORE Note:1' shows a deleted one."))
    }

    @Test func `options select properties, actors, requests, entities, conditions and moments`() throws {
        let place = try Self.workplace()
        #expect(try heads(rows(place, "Note/2", "--attribute", "id")) == ["4 Note/2 cloned", "2 Note/1 inserted"])
        let deleted = try heads(rows(place, "--actor", "eve"))
        #expect(deleted == ["6 Note/1 deleted", "6 Item/1 deleted", "6 Memo/1 changed", "6 Memo/2 changed"])
        #expect(try heads(rows(place, "--request", "r7")) == ["5 Note/2 changed"])
        #expect(try heads(rows(place, "--entity", "Item")) == ["6 Item/1 deleted", "4 Item/2 cloned", "2 Item/1 inserted"])
        #expect(try heads(rows(place, "--entity", "Note", "--where", "title == $t", "--set", "t=c")) == ["5 Note/2 changed"])
        #expect(try heads(rows(place, "Note/2", "--from", "4", "--to", "4")) == ["4 Note/2 cloned"])
        #expect(try rows(place, "--from", "2", "--at", "3").count == 5)
        #expect(try place.run("history", "notes", "--attribute", "price").code == 64)
        #expect(try place.run("history", "notes", "--where", "price > 1").code == 65)
    }

    @Test func `without an object, the history has the schema and labels`() throws {
        let place = try Self.workplace()
        #expect(try place.run("label", "notes", "march", "3").code == 0)
        let all = try rows(place)
        #expect(all[0]["change"] as? String == "label" && all[0]["label"] as? String == "march" && all[0]["after"] as? Int == 3)
        #expect(all.last?["change"] as? String == "schema" && all.last?["transaction"] as? Int == 1)
    }

    @Test func `a renamed attribute has its present name, and its former one`() throws {
        let place = try Self.workplace()
        let next = Workplace.notes.replacing(#""title": {"#, with: #""heading": {"renamedFrom": "title", "#)
        try place.write(next, to: "next.json")
        #expect(try place.run("schema", "notes", "--set", "next.json").code == 0)
        let found = try rows(place, "Note/2", "--attribute", "heading", "--limit", "2")
        #expect(found[0]["change"] as? String == "renamed" && found[0]["before"] as? String == "title")
        #expect(found[1]["attribute"] as? String == "heading" && found[1]["formerName"] as? String == "title")
        #expect(try heads(rows(place, "Note/2", "--attribute", "title", "--limit", "1")) == heads([found[0]]))
    }

    @Test func `a copy that an undo brought back has its own earlier life, with its deletion`() throws {
        let place = try Self.workplace()
        #expect(try place.run("delete", "notes", "Note/2", "--actor", "eve").code == 0)
        #expect(try place.run("undo", "notes", "7", "--actor", "mary").code == 0)
        let life = ["5 Note/2 changed", "4 Note/2 cloned", "3 Note/1 changed", "2 Note/1 inserted"]
        #expect(try heads(rows(place, "Note/2")) == ["8 Note/2 inserted", "7 Note/2 deleted"] + life)
        #expect(try heads(rows(place, "--entity", "Note", "--actor", "mary")) == ["8 Note/2 inserted"])
        let last = try #require(try rows(place, "Note/2", "--complete").last)
        #expect(last["complete"] as? Bool == true)
        let title = try #require(try blame(place, "Note/2")["title"])
        #expect(title["transaction"] as? Int == 8 && title["from"] == nil)
    }

    @Test func `the history of a property omits objects without it`() throws {
        let place = try Self.workplace()
        let all = ["6 Note/1 deleted", "5 Note/2 changed", "4 Note/2 cloned", "3 Note/1 changed", "2 Note/1 inserted"]
        #expect(try heads(rows(place, "--attribute", "title")) == all)
        #expect(try heads(rows(place, "--relationship", "note", "--change", "inserted")).allSatisfy { !$0.contains("Note/") })
    }

    /// Returns a store in which transaction 7 renamed the entity to Sheet, its title to heading, and its items to parts.
    private func renamed() throws -> Workplace {
        let place = try Self.workplace()
        let next = Workplace.notes.replacing(#""title": {"#, with: #""heading": {"renamedFrom": "title", "#)
            .replacing(#""Note": {"#, with: #""Sheet": {"renamedFrom": "Note", "#).replacing(#""to": "Note""#, with: #""to": "Sheet""#)
            .replacing(#""items": {"#, with: #""parts": {"renamedFrom": "items", "#)
            .replacing(#""inverse": "items""#, with: #""inverse": "parts""#)
        try place.write(next, to: "next.json")
        let outcome = try place.run("schema", "notes", "--set", "next.json")
        #expect(outcome.code == 0, "\(outcome.errors)")
        return place
    }

    @Test func `the present names of an entity and of properties also select what happened before the renaming`() throws {
        let place = try renamed()
        let titles = ["6 Note/1 deleted", "5 Note/2 changed", "4 Note/2 cloned", "3 Note/1 changed"]
        #expect(try heads(rows(place, "--entity", "Sheet", "--where", #"heading == "b""#)) == titles)
        let nested = #"any parts where (name == "x") and parts.@count == 1"#
        #expect(try heads(rows(place, "--entity", "Sheet", "--where", nested)) == titles + ["2 Note/1 inserted"])
        let parts = try heads(rows(place, "--entity", "Item", "--where", "note == Sheet/1"))
        #expect(parts == ["6 Item/1 deleted", "2 Item/1 inserted"])
        let linked = try rows(place, "--entity", "Sheet", "--where", #"any parts.name == "x""#, "--change", "inserted")
        #expect(heads(linked) == ["4 Note/2 cloned", "2 Note/1 inserted"])
        #expect(try heads(rows(place, "--entity", "Sheet")) == titles + ["2 Note/1 inserted"])
        let numbers = try place.run("changes", "notes", "--from", "1", "--entity", "Sheet").json.compactMap { $0["transaction"] as? Int }
        #expect(numbers.starts(with: [2, 3, 4, 5, 6]))
        for arguments in [[], ["--bisect"], ["--entity", "Sheet"]] {
            let words = ["replay", "notes", "--until", #"heading == "b" or heading == "c""#, "--json"] + arguments
            let found = try place.run(executable: Workplace.binary, words).json
            #expect(found.first?["transaction"] as? Int == 3, "\(arguments)")
        }
    }

    @Test func `a history that cannot be complete does not say that it is`() throws {
        let place = try Self.workplace()
        #expect(try place.run("history", "notes", "--complete", "--limit", "1").code == 64)
        #expect(try place.run("checkpoint", "notes").code == 0)
        #expect(try place.run("compact", "notes", "--retain", "snapshots:1").code == 0)
        let output = try place.run("history", "notes", "Note/2", "--complete").output
        #expect(output.hasSuffix("There is no transaction to compare: the changes of all transactions up to 6 were retired.\n"))
        let replayed = try place.run("replay", "notes")
        #expect(replayed.code == 0 && replayed.errors.contains("The changes of transactions 1 to 6 were retired by a compaction"))
        let searched = try place.run("replay", "notes", "--until", "id == 3")
        #expect(searched.code == 1 && searched.errors.contains("There is no transaction after 6"))
        #expect(try place.run("history", "notes", "Note:9").errors.contains("The changes before transaction 7 were retired"))
    }

    @Test func `an unknown identity is reported without the advice to run the same command`() throws {
        let errors = try Self.workplace().run("history", "notes", "Note:9").errors
        #expect(errors.contains("Up to transaction 6, no 'Note' has had the identity 9.") && !errors.contains("cambium history"))
    }

    @Test func `the last row says which transactions a compaction retired`() throws {
        let place = try Self.workplace()
        #expect(try place.run("checkpoint", "notes").code == 0)
        #expect(try place.run("set", "notes", "Note/2", "title=d").code == 0)
        #expect(try place.run("checkpoint", "notes").code == 0)
        #expect(try place.run("compact", "notes", "--retain", "since:6").code == 0)
        #expect(try heads(rows(place, "Note/2")) == ["7 Note/2 changed", "6 - retired"])
        #expect(try heads(rows(place, "Note/2", "--limit", "1")) == ["7 Note/2 changed"])
        #expect(try heads(rows(place)).last == "6 - retired")
        let blame = try place.run("blame", "notes", "Note/2", "--json").json
        #expect(blame.first { $0["attribute"] as? String == "title" }?["transaction"] as? Int == 7)
        #expect(blame.first { $0["attribute"] as? String == "id" }?["retired"] as? Bool == true)
    }

    @Test func `a complete history says so, and names the compared transactions`() throws {
        let place = try Self.workplace()
        let last = try #require(try rows(place, "Note/2", "--complete").last)
        #expect(last["complete"] as? Bool == true && last["from"] as? Int == 1 && last["to"] as? Int == 6)
        #expect(last["method"] as? String == "scan" && (last["gaps"] as? [Int])?.isEmpty == true)
        #expect(try place.run("history", "notes", "Note/2", "--complete").output.hasSuffix("from transaction 1 to 6.\n"))
    }

    @Test func `the output for people has a line for each transaction, and its changes`() throws {
        let output = try Self.workplace().run("history", "notes", "Note/2", "--limit", "2").output
        let lines = output.split(separator: "\n").map(String.init)
        #expect(lines[0].hasPrefix("5  ") && lines[0].hasSuffix("  jane  (request r7)") && lines[1] == "    ~ Note/2 (3) title: b -> c")
        #expect(lines[2].hasSuffix("  joe") && lines[3] == "    + Note/2 (3), a copy of Note/1 (1)")
    }

    // MARK: Blame

    private func blame(_ place: Workplace, _ arguments: String...) throws -> [String: [String: Any]] {
        let outcome = try place.run(executable: Workplace.binary, ["blame", "notes"] + arguments + ["--json"])
        #expect(outcome.code == 0, "\(outcome.errors)")
        let rows = try outcome.json.map { (($0["attribute"] ?? $0["relationship"]) as? String ?? "", $0) }
        return Dictionary(rows) { first, _ in first }
    }

    @Test func `blame names the transaction of each property, through the clone`() throws {
        let rows = try blame(Self.workplace(), "Note/2")
        #expect(Set(rows.keys) == ["id", "title", "when", "items", "memos"])
        #expect(rows["title"]?["transaction"] as? Int == 5 && rows["title"]?["value"] as? String == "c" && rows["title"]?["from"] == nil)
        #expect(rows["id"]?["transaction"] as? Int == 4 && rows["id"]?["actor"] as? String == "joe" && rows["id"]?["from"] == nil)
        #expect(rows["memos"]?["transaction"] as? Int == 2 && rows["memos"]?["from"] as? String == "Note/1")
        #expect(rows["memos"]?["value"] as? [String] == ["Memo/3", "Memo/4"] && rows["when"]?["value"] is NSNull)
    }

    @Test func `blame passes over ignored numbers, actors and labels, and reads earlier moments`() throws {
        let place = try Self.workplace()
        #expect(try place.run("label", "notes", "fix", "3").code == 0)
        #expect(try blame(place, "Note/2", "--ignore", "5")["title"]?["transaction"] as? Int == 3)
        #expect(try blame(place, "Note/2", "--ignore", "5", "--ignore", "label:fix")["title"]?["transaction"] as? Int == 2)
        #expect(try blame(place, "Note/2", "--ignore", "actor:jane")["title"]?["from"] as? String == "Note/1")
        let all = try blame(place, "Note/2", "--ignore", "actor:jane", "--ignore", "actor:imp", "--ignore", "4")
        #expect(all["title"]?["transaction"] as? Int == 5 && all["title"]?["ignored"] as? Bool == true)
        #expect(try blame(place, "Note:1", "--at", "2")["title"]?["transaction"] as? Int == 2)
        #expect(try place.run("blame", "notes", "Note/1").code == 66)
        #expect(try place.run("blame", "notes", "Note/2", "--ignore", "label:none").code == 66)
        #expect(try place.run("blame", "notes", "Note/2", "--ignore", "jane").code == 64)
        #expect(try place.run("blame", "notes", "Note/2", "--ignore", "8").code == 66)
    }
}

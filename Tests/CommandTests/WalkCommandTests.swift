import Foundation
import Testing

@Suite struct WalkCommandTests {
    /// Returns a store with two notes. The first one has two items and a memo.
    private func workplace() throws -> Workplace {
        try Workplace.copy {
            let place = try Workplace.withStore()
            let rows = #"{"id":1,"title":"a","items":[{"name":"x"},{"name":"y"}],"memos":[{"text":"m"}]}"# + "\n" + #"{"id":2}"#
            #expect(try place.run("import", "notes", "Note", "-", input: rows).code == 0)
            return place
        }
    }

    /// Returns the id and the distance of each printed object.
    private func rows(_ place: Workplace, _ arguments: String...) throws -> [String] {
        try place.run(executable: Workplace.binary, ["walk", "notes"] + arguments + ["--json"]).json.map { row in
            "\(row["_id"] as? String ?? "?") \(row["_distance"] as? Int ?? -1)"
        }
    }

    @Test func `a walk prints objects by distance and id, with the distance after the id`() throws {
        let place = try workplace()
        #expect(
            try place.run("walk", "notes", "Item/2", "note", "items", "--json").output == """
                {"_id":"Item/2","_distance":0,"name":"y","note":"Note/1"}
                {"_id":"Note/1","_distance":1,"id":1,"title":"a","when":null,"items":["Item/1","Item/2"],"memos":["Memo/1"]}
                {"_id":"Item/1","_distance":2,"name":"x","note":"Note/1"}

                """)
        #expect(
            try place.run("walk", "notes", "Item/2", "note", "memos").output == """
                0  Item/2  name: y  note: Note/1
                1  Note/1  id: 1  title: a  items: Item/1 Item/2  memos: Memo/1
                2  Memo/1  text: m  note: Note/1

                """)
    }

    @Test func `the depth limits a walk`() throws {
        let place = try workplace()
        #expect(try rows(place, "Item/1", "note", "items", "--depth", "0") == ["Item/1 0"])
        #expect(try rows(place, "Item/1", "note", "items", "--depth", "1") == ["Item/1 0", "Note/1 1"])
        #expect(try rows(place, "Item/1", "note", "items", "--depth", "9").count == 3)
        #expect(try place.run("walk", "notes", "Item/1", "note", "--depth", "-1").code == 64)
    }

    @Test func `a shortest path is printed in its order`() throws {
        let place = try workplace()
        #expect(try rows(place, "Item/1", "note", "items", "--to", "Item/2") == ["Item/1 0", "Note/1 1", "Item/2 2"])
        #expect(try rows(place, "Item/1", "note", "--to", "Item/1") == ["Item/1 0"])
    }

    @Test func `a path that does not exist is bad news`() throws {
        let place = try workplace()
        let missing = try place.run("walk", "notes", "Item/1", "note", "items", "--to", "Note/2")
        #expect(missing.code == 1 && missing.output.isEmpty)
        #expect(missing.errors == "cambium: No path along note, items leads from Item/1 to Note/2. Name more relationships.\n")
        let short = try place.run("walk", "notes", "Item/1", "note", "items", "--to", "Item/2", "--depth", "1")
        #expect(short.code == 1 && short.errors.contains("No path of at most 1 step along"))
    }

    @Test func `a walk passes only objects that satisfy a condition, except the start and the end of a path`() throws {
        let place = try workplace()
        #expect(try rows(place, "Item/1", "note", "items", "--where", "id == 1") == ["Item/1 0", "Note/1 1"])
        #expect(try rows(place, "Item/1", "note", "items", "--where", "id == 2") == ["Item/1 0"])
        #expect(try rows(place, "Item/1", "note", "items", "--where", "name == $n", "--set", "n=y") == ["Item/1 0"])
        #expect(try rows(place, "Note/1", "note", "items", "--where", "name == $n", "--set", "n=y") == ["Note/1 0", "Item/2 1"])
        #expect(try rows(place, "Item/1", "note", "items", "--to", "Item/2", "--where", "id == 1").count == 3)
        let none = try place.run("walk", "notes", "Item/1", "note", "items", "--to", "Item/2", "--where", "id == 2")
        #expect(none.code == 1 && none.errors.contains("or widen --where."))
    }

    @Test func `a condition whose names fit no reached entity is refused with its position`() throws {
        let place = try workplace()
        let unknown = try place.run("walk", "notes", "Item/1", "note", "items", "--where", "true and nmae == 1")
        #expect(unknown.code == 65 && unknown.errors.hasPrefix("cambium: --where:1:10: 'Note' has no attribute"), "\(unknown.errors)")
        #expect(try place.run("walk", "notes", "Note/1", "items", "--where", "title == \"a\"").code == 65)
        #expect(try place.run("walk", "notes", "Note/1", "items", "--where", "name == $n").code == 65)
        #expect(try place.run("walk", "notes", "Note/1", "items", "--where", "name == 3").errors.contains("--where:1:9: "))
        #expect(try place.run("walk", "notes", "Note/1", "items", "--set", "n=3").code == 64)
    }

    @Test func `an object does not satisfy a condition that compares its property with another type`() throws {
        let place = try Workplace()
        let texts = #""B": {"attributes": {"code": {"type": "string"}}, "relationships": {"a": {"to": "A"}}}"#
        try place.write(
            #"{"entities": {"A": {"attributes": {"code": {"type": "int32"}}, "relationships": {"b": {"to": "B"}}}, \#(texts)}}"#,
            to: "schema.json")
        #expect(try place.run("init", "notes", "--schema", "schema.json").code == 0)
        for arguments in [["B", "code=3"], ["A", "code=3", "b=B/1"], ["A", "code=4", "b=B/1"]] {
            #expect(try place.run(executable: Workplace.binary, ["insert", "notes"] + arguments).code == 0)
        }
        #expect(try place.run("link", "notes", "B/1", "a", "A/2").code == 0)
        #expect(try rows(place, "A/1", "a", "b", "--where", "code == 3") == ["A/1 0"])
        #expect(try rows(place, "A/1", "a", "b", "--where", "code == \"3\"") == ["A/1 0", "B/1 1"])
        #expect(try place.run("walk", "notes", "A/1", "a", "b", "--where", "code == true").code == 65)
    }

    @Test func `a walk reads an earlier moment`() throws {
        let place = try workplace()
        #expect(try place.run("delete", "notes", "Item/2").code == 0)
        #expect(try rows(place, "Note/1", "items") == ["Note/1 0", "Item/1 1"])
        #expect(try rows(place, "Note/1", "items", "--at", "2") == ["Note/1 0", "Item/1 1", "Item/2 1"])
    }

    @Test func `unknown names and objects are refused`() throws {
        let place = try workplace()
        #expect(try place.run("walk", "notes", "Note/1", "nothing").code == 64)
        #expect(try place.run("walk", "notes", "Note/1").code == 64)
        #expect(try place.run("walk", "notes", "Note/9", "items").code == 66)
        #expect(try place.run("walk", "notes", "Note/1", "items", "--to", "Item/9").code == 66)
        #expect(try place.run("walk", "nowhere", "Note/1", "items").code == 66)
    }
}

import CambiumTesting
import Foundation
import Testing

@Suite struct CloneCommandTests {
    /// Notes that own items and share tags. A copy of a note gets a new id, which its items take from it.
    static let schema = """
        { "entities": {
            "Note": { "identity": ["id"],
              "attributes": { "id": {"type": "uuid", "userInfo": {"rebuild": "uuid"}}, "title": {"type": "string", "optional": true},
                              "rank": {"type": "int32", "default": 0, "userInfo": {"exclude": "", "leaveOut": ""}} },
              "relationships": { "items": {"to": "Item", "many": true, "inverse": "note", "onDelete": "cascade"},
                                 "tags": {"to": "Tag", "many": true, "inverse": "notes"}, "next": {"to": "Note"} } },
            "Item": { "attributes": { "name": {"type": "string", "optional": true},
                                      "owner": {"type": "uuid", "optional": true,
                                                "userInfo": {"followParent": "id", "withoutParent": "blank"}} },
                      "relationships": { "note": {"to": "Note", "inverse": "items"}, "parts": {"to": "Part", "many": true} } },
            "Part": { "attributes": { "size": {"type": "int32", "default": 1} } },
            "Code": { "unique": [["text"]], "attributes": { "text": {"type": "string", "optional": true} } },
            "Tag": { "identity": ["name"], "attributes": { "name": {"type": "string"} },
                     "relationships": { "notes": {"to": "Note", "many": true, "inverse": "tags"} } } } }
        """

    static let log = "notes/log/00000000000000000001.log"

    /// Returns a store with two notes.
    func place() throws -> Workplace {
        try Workplace.copy {
            let place = try Workplace()
            try place.write(Self.schema, to: "schema.json")
            #expect(try place.run("init", "notes", "--schema", "schema.json").code == 0)
            let rows = """
                {"id":"00000000-0000-4000-8000-000000000001","title":"a","rank":5,"tags":["red"],\
                "items":[{"name":"x","parts":[{},{}]},{"name":"y"}]}
                {"id":"00000000-0000-4000-8000-000000000002","title":"b"}
                """
            #expect(try place.run("import", "notes", "Note", "-", input: rows).code == 0)
            #expect(try place.run("insert", "notes", "Code", "text=c").code == 0)
            return place
        }
    }

    private func object(_ id: String, in place: Workplace) throws -> [String: Any] {
        try #require(try place.run("show", "notes", id, "--json").json.first)
    }

    func expectUnchanged(_ place: Workplace, _ before: Data, at location: SourceLocation = #_sourceLocation) throws {
        #expect(try place.bytes(of: Self.log) == before, sourceLocation: location)
    }

    /// Returns the names of the store, the schema and all other files, except the files of the tests themselves.
    func files(_ place: Workplace) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: place.directory.path).filter { !$0.hasPrefix(".") }.sorted()
    }

    @Test func `a clone reports its root, the number of its objects and its bytes of log`() throws {
        let place = try place()
        let outcome = try place.run("clone", "notes", "Note/1")
        #expect(outcome.code == 0 && outcome.errors.isEmpty)
        let lines = outcome.output.split(separator: "\n").map(String.init)
        #expect(lines.first?.wholeMatch(of: /Note\/3: 5 objects in transaction 4, \d+ bytes of log/) != nil, "\(outcome.output)")
        #expect(Array(lines.dropFirst()) == ["  Note: 1", "  Item: 2", "  Part: 2"])
        let copy = try object("Note/3", in: place)
        #expect(copy["title"] as? String == "a" && copy["rank"] as? Int == 0 && copy["tags"] as? [String] == ["Tag/1"])
        #expect(copy["items"] as? [String] == ["Item/3", "Item/4"] && copy["id"] as? String != "00000000-0000-4000-8000-000000000001")
        #expect(try object("Item/3", in: place)["owner"] as? String == copy["id"] as? String)
        #expect(try place.run("verify", "notes").code == 0)
    }

    @Test func `a clone reports its result to programs as JSON`() throws {
        let place = try place()
        let outcome = try place.run("clone", "notes", "Note/1", "--json")
        let bytes = try #require(try outcome.json.first?["logBytes"] as? Int)
        #expect(
            outcome.output == #"{"transaction":4,"root":"Note/3","objects":5,"byEntity":{"Note":1,"Item":2,"Part":2},"logBytes":\#(bytes)}"#
                + "\n")
        #expect(bytes > 0 && bytes <= 256)
    }

    @Test func `one transaction copies several objects in the given order`() throws {
        let place = try place()
        let output = try place.run("clone", "notes", "Note/2", "Part/1", "Note/1", "--json", "--exclude", "items").output
        #expect(output.hasPrefix(#"{"transaction":4,"root":"Note/4","roots":["Note/4","Part/3","Note/3"],"objects":3,"#), "\(output)")
        let printed = try place.run("clone", "notes", "Part/1", "Part/2", "Part/1").output
        #expect(printed.hasPrefix("Part/4, Part/5: 2 objects in transaction 5, "), "\(printed)")
    }

    @Test func `if a root lacks the parent that an attribute follows, the error names the option that gives a value`() throws {
        let place = try Workplace()
        let schema = #"""
            { "entities": {
                "Shelf": { "attributes": {"code": {"type": "string"}},
                           "relationships": {"boxes": {"to": "Box", "many": true, "inverse": "shelf"}} },
                "Box": { "attributes": {"code": {"type": "string", "userInfo": {"followParent": "code"}}},
                         "relationships": {"shelf": {"to": "Shelf", "inverse": "boxes"}} } } }
            """#
        try place.write(schema, to: "shelves.json")
        #expect(try place.run("init", "shelves", "--schema", "shelves.json").code == 0)
        #expect(try place.run("insert", "shelves", "Box", "code=A").code == 0)
        let refused = try place.run("clone", "shelves", "Box/1")
        #expect(refused.code == 1 && refused.errors.contains("--set on the command line"), "\(refused.errors)")
        #expect(try place.run("clone", "shelves", "Box/1", "--set", "code=B").code == 0)
    }

    @Test func `a plan counts the objects and writes nothing`() throws {
        let place = try place()
        let before = try place.bytes(of: Self.log)
        let printed = try place.run("clone", "notes", "Note/1", "--plan")
        #expect(printed.output == "5 objects would be copied; nothing was written\n  Note: 1\n  Item: 2\n  Part: 2\n")
        let json = try place.run("clone", "notes", "Note/1", "--plan", "--json", "--depth", "1").output
        #expect(json == #"{"transaction":null,"root":null,"objects":3,"byEntity":{"Note":1,"Item":2},"logBytes":0}"# + "\n")
        #expect(try place.run("clone", "notes", "Note/1", "--plan", "--max-objects", "2").code == 65)
        #expect(try place.run("clone", "notes", "Note/1", "--plan", "--map", "map.json").code == 64)
        try expectUnchanged(place, before)
    }

    @Test func `a plan is refused if an attribute does not allow the time of the clone`() throws {
        let place = try Workplace()
        let made = #"{"type": "date", "optional": true, "max": "2020-01-01T00:00:00Z", "userInfo": {"rebuild": "now"}}"#
        try place.write(#"{"entities": {"Page": {"attributes": {"made": \#(made)}}}}"#, to: "schema.json")
        #expect(try place.run("init", "pages", "--schema", "schema.json").code == 0)
        #expect(try place.run("insert", "pages", "Page").code == 0)
        for arguments in [["--plan"], []] {
            let outcome = try place.run(executable: Workplace.binary, ["clone", "pages", "Page/1"] + arguments)
            #expect(outcome.code == 1 && outcome.output.isEmpty && outcome.errors.contains("the time of the clone is"), "\(arguments)")
        }
        #expect(try place.run("clone", "pages", "Page/1", "--plan", "--set", "made=2019-01-01").code == 0)
    }

    // MARK: Options

    @Test func `the error about a limit of one object has the singular`() throws {
        let outcome = try place().run("clone", "notes", "Note/1", "--max-objects", "1")
        #expect(outcome.code == 65 && outcome.errors.contains("its limit of 1 object. Raise the limit"), "\(outcome.errors)")
    }

    @Test func `relationships are excluded at every level or at the root`() throws {
        let place = try place()
        let excluded = try place.run("clone", "notes", "Note/1", "--exclude", "parts,Note.tags", "--json")
        #expect(try excluded.json.first?["objects"] as? Int == 3)
        #expect(try object("Note/3", in: place)["tags"] as? [String] == [])
        let atRoot = try place.run("clone", "notes", "Note/1", "--exclude-at-root", "items", "--exclude-at-root", "tags", "--json")
        #expect(try atRoot.json.first?["objects"] as? Int == 1)
        #expect(try place.run("clone", "notes", "Note/1", "--exclude-at-root", "parts").code == 64, "a note has no parts")
    }

    @Test func `copy and share override the rule of the inverse`() throws {
        let place = try place()
        let shared = try place.run("clone", "notes", "Note/1", "--share", "Item.parts", "--json")
        #expect(try shared.json.first?["objects"] as? Int == 3)
        #expect(try object("Item/3", in: place)["parts"] as? [String] == ["Part/1", "Part/2"])
        #expect(try place.run("clone", "notes", "Note/1", "--copy", "tags").code == 1, "the identity of a tag would be repeated")
        #expect(try place.run("clone", "notes", "Note/1", "--share", "items").code == 65)
        #expect(try place.run("clone", "notes", "Note/1", "--share", "parts", "--copy", "parts").code == 64)
    }

    @Test func `the depth and the number of objects can be limited`() throws {
        let place = try place()
        #expect(try place.run("clone", "notes", "Note/1", "--depth", "0", "--json").json.first?["objects"] as? Int == 1)
        #expect(try place.run("clone", "notes", "Note/1", "--max-objects", "5").code == 0)
        #expect(try place.run("clone", "notes", "Note/1", "--max-objects", "4").code == 65)
        for arguments in [["--depth", "-1"], ["--max-objects", "0"], ["--depth", "x"]] {
            #expect(try place.run(executable: Workplace.binary, ["clone", "notes", "Note/1"] + arguments).code == 64)
        }
    }

    @Test func `the copies of the given objects have the given values`() throws {
        let place = try place()
        let id = "00000000-0000-4000-8000-00000000000a"
        #expect(try place.run("clone", "notes", "Note/1", "--set", "title=new", "--set", "rank:=7", "--set", "id=\(id)").code == 0)
        let copy = try object("Note/3", in: place)
        #expect(copy["title"] as? String == "new" && copy["rank"] as? Int == 7 && (copy["id"] as? String)?.lowercased() == id)
        #expect((try object("Item/3", in: place)["owner"] as? String)?.lowercased() == id)
        #expect(try place.run("clone", "notes", "Note/1", "--set", "nope=1").code == 64)
        #expect(try place.run("clone", "notes", "Note/1", "--set", "rank=many").code == 65)
        #expect(try place.run("clone", "notes", "Note/1", "--set", "items=Item/1").code == 64)
    }

    @Test func `the keys of userInfo can have other names`() throws {
        let place = try place()
        #expect(try place.run("clone", "notes", "Note/1", "--key", "exclude=leaveOut").code == 0)
        #expect(try object("Note/3", in: place)["rank"] as? Int == 0)
        #expect(try place.run("clone", "notes", "Note/2", "--key", "exclude=other", "--set", "rank=3").code == 0)
        #expect(try place.run("clone", "notes", "Note/1", "--key", "rebuild=other").code == 1, "the identity would be repeated")
        for key in ["nope=x", "exclude", "exclude="] { #expect(try place.run("clone", "notes", "Note/1", "--key", key).code == 64) }
        #expect(try place.run("clone", "notes", "Note/1", "--key", "exclude=rebuild").code == 65)
    }

    // MARK: Requests, errors and the log

    @Test func `a repeated clone request returns the first result and changes nothing`() throws {
        let place = try place()
        let first = try place.run("clone", "notes", "Note/1", "Note/2", "--request", "r", "--json").output
        let bytes = try place.bytes(of: Self.log)
        let again = try place.run("clone", "notes", "Note/1", "Note/2", "--request", "r", "--json", "--map", "map.json")
        #expect(again.code == 0 && first.contains(#""roots":["Note/3","Note/4"]"#))
        #expect(again.output == first.replacing("}\n", with: #","repeated":true}"# + "\n"))
        #expect(try place.run("clone", "notes", "Note/1", "--request", "r").code == 1, "another request has the id")
        let printed = try place.run("clone", "notes", "Note/1", "Note/2", "--request", "r").output
        #expect(printed.hasPrefix("Note/3, Note/4: 6 objects in transaction 4: the request was applied then, and is not repeated\n"))
        try expectUnchanged(place, bytes)
        #expect(try files(place) == ["map.json", "notes", "schema.json"], "a repeated request writes its map")
    }

    @Test(
        .enabled(if: LongTests.areWanted),
        arguments: [
            (["Note/77"], 66), (["Note"], 66), (["Nope/1"], 64), (["Tag/1"], 1), (["Code/1"], 1), (["Note/1", "--exclude", "nope"], 64),
            (["Note/1", "--exclude", "title"], 64), (["Note/1", "--exclude-at-root", "Item.nope"], 64),
            (["Note/1", "--copy", "Nope.x"], 64),
            ([], 64),
            (["Note/1", "Item/99"], 66), (["Item/1", "--frob"], 64), (["Item/1", "--set", "title=x"], 64),
        ])
    func `a clone that fails exits with the code of its error and writes nothing`(arguments: [String], code: Int) throws {
        let place = try place()
        let before = try place.bytes(of: Self.log)
        let outcome = try place.run(executable: Workplace.binary, ["clone", "notes"] + arguments)
        #expect(Int(outcome.code) == code && outcome.errors.hasPrefix("cambium: ") && outcome.output.isEmpty, "\(outcome.errors)")
        try expectUnchanged(place, before)
    }

    @Test(arguments: [
        #""a": {"type": "int32", "userInfo": {"exclude": ""}}"#, #""a": {"type": "string", "userInfo": {"rebuild": "uuid"}}"#,
        #""a": {"type": "uuid", "userInfo": {"rebuild": "soon"}}"#, #""a": {"type": "uuid", "userInfo": {"followParent": "nope"}}"#,
        #""a": {"type": "uuid", "userInfo": {"withoutParent": "keep"}}"#,
    ])
    func `a schema with invalid clone rules creates no store`(attribute: String) throws {
        let place = try Workplace()
        try place.write("{ \"entities\": { \"A\": { \"attributes\": { \(attribute) } } } }", to: "bad.json")
        let outcome = try place.run("init", "store", "--schema", "bad.json")
        #expect(outcome.code == 65 && outcome.errors.contains("/entities/A/attributes/a/userInfo/"), "\(outcome.errors)")
        #expect(try files(place) == ["bad.json"])
    }

    /// A Core Data model with a rule of each kind in its user info.
    private static let model = """
        <model>
          <entity name="Note">
            <attribute name="id" attributeType="UUID" optional="YES"><userInfo><entry key="rebuild" value="uuid"/></userInfo></attribute>
            <attribute name="rank" attributeType="Integer 32" defaultValueString="0"><userInfo><entry key="exclude"/></userInfo></attribute>
            <relationship name="drafts" optional="YES" toMany="YES" destinationEntity="Item" inverseName="draftOf" inverseEntity="Item">
              <userInfo><entry key="exclude"/></userInfo></relationship>
            <relationship name="items" optional="YES" toMany="YES" destinationEntity="Item" inverseName="note" inverseEntity="Item"/>
            <relationship name="tags" optional="YES" toMany="YES" destinationEntity="Tag" inverseName="notes" inverseEntity="Tag">
              <userInfo><entry key="clone" value="copy"/></userInfo></relationship>
          </entity>
          <entity name="Item">
            <attribute name="owner" attributeType="UUID" optional="YES">
              <userInfo><entry key="followParent" value="id"/><entry key="withoutParent" value="blank"/></userInfo></attribute>
            <relationship name="note" optional="YES" maxCount="1" destinationEntity="Note" inverseName="items" inverseEntity="Note"/>
            <relationship name="draftOf" optional="YES" maxCount="1" destinationEntity="Note" inverseName="drafts" inverseEntity="Note"/>
          </entity>
          <entity name="Tag">
            <relationship name="notes" optional="YES" toMany="YES" destinationEntity="Note" inverseName="tags" inverseEntity="Note"/>
          </entity>
        </model>
        """

    @Test func `a clone follows the rules in the user info of a Core Data model`() throws {
        let place = try Workplace()
        try place.write(Self.model, to: "contents")
        #expect(try place.run("init", "notes", "--schema", "contents").code == 0)
        let row = #"{"id":"00000000-0000-4000-8000-000000000001","rank":5,"items":[{}],"drafts":[{}],"tags":[{}]}"#
        #expect(try place.run("import", "notes", "Note", "-", input: row).code == 0)
        #expect(try place.run("clone", "notes", "Note/1").code == 0)
        let copy = try object("Note/2", in: place)
        #expect(copy["id"] as? String != "00000000-0000-4000-8000-000000000001" && copy["rank"] as? Int == 0)
        #expect(copy["items"] as? [String] == ["Item/3"] && copy["drafts"] as? [String] == [] && copy["tags"] as? [String] == ["Tag/2"])
        #expect(try object("Item/3", in: place)["owner"] as? String == copy["id"] as? String)
    }

    @Test func `a Core Data model with an invalid clone rule creates no store`() throws {
        let place = try Workplace()
        try place.write(Self.model.replacing(#"value="uuid""#, with: #"value="soon""#), to: "contents")
        let outcome = try place.run("init", "notes", "--schema", "contents")
        #expect(outcome.code == 65 && outcome.errors.contains("soon"), "\(outcome.errors)")
        #expect(try files(place) == ["contents"])
    }

    @Test func `the log shows a clone as one op`() throws {
        let place = try place()
        #expect(try place.run("clone", "notes", "Note/1", "--actor", "jane", "--message", "copy").code == 0)
        let lines = try place.run("log", "notes", "--ops", "--from", "4").output.split(separator: "\n")
        #expect(lines.count == 2 && lines[0].hasSuffix("  jane  copy"))
        let clone = #"    clone roots ["Note/1 (00000000-0000-4000-8000-000000000001)"] objects 5 byEntity {"Note":1,"Item":2,"Part":2}"#
        #expect(lines[1] == clone)
        let entry = try #require(try place.run("log", "notes", "--ops", "--json", "--from", "4").json.first)
        let op = try #require((entry["ops"] as? [[String: Any]])?.first)
        #expect(op["op"] as? String == "clone" && op["roots"] as? [String] == ["Note/1"] && op["objects"] as? Int == 5)
        for object in ["Note/1", "Note/3"] {
            #expect(try place.run("log", "notes", "--json", "--object", object).json.last?["transaction"] as? Int == 4)
        }
        #expect(try place.run("log", "notes", "--json", "--entity", "Part").json.last?["transaction"] as? Int == 4)
    }

    private static let comments = """
        { "entities": {
            "Issue": { "relationships": { "comments": {"to": "Comment", "many": true, "inverse": "issue"},
                                          "steps": {"to": "Step", "many": true, "inverse": "issue"} } },
            "Comment": { "relationships": { "issue": {"to": "Issue", "inverse": "comments"}, "author": {"to": "Person"} } },
            "Step": { "identity": ["k"], "attributes": { "k": {"type": "int64"} },
                      "relationships": { "issue": {"to": "Issue", "inverse": "steps"} } },
            "Person": { "identity": ["name"], "attributes": { "name": {"type": "string"} },
                        "relationships": { "friend": {"to": "Person"} } } } }
        """

    @Test func `the error of a clone names the relationships that led to a repeated identity, and those that can be shared`() throws {
        let place = try Workplace()
        try place.write(Self.comments, to: "schema.json")
        #expect(try place.run("init", "s", "--schema", "schema.json").code == 0)
        let rows = #"{"comments":[{"author":{"name":"jane"}}],"steps":[{"k":1}]}"#
        #expect(try place.run("import", "s", "Issue", "-", input: rows).code == 0)
        let refused = try place.run("clone", "s", "Issue/1")
        #expect(refused.code == 1 && refused.errors.contains("copied through 'Comment.author'\n"), "\(refused.errors)")
        #expect(refused.errors.contains("copied through 'Issue.steps'\n") && !refused.errors.contains("Person.friend"))
        #expect(refused.errors.contains("--share Comment.author on the command line"), "\(refused.errors)")
        let step = try place.run("clone", "s", "Issue/1", "--share", "Comment.author")
        #expect(step.code == 1 && !step.errors.contains("share"), "\(step.errors)")
        #expect(try place.run("clone", "s", "Issue/1", "--share", "Comment.author", "--exclude", "steps").code == 0)
    }
}

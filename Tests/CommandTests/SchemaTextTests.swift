import Testing

@Suite struct SchemaTextTests {
    private static let schema = #"""
        { "entities": {
            "Thing": { "abstract": true, "identity": ["id"], "indexes": [["name[c]", "-born"]],
              "attributes": { "id": {"type": "int64", "min": 1, "max": 99},
                              "name": {"type": "string", "optional": true, "minLength": 2, "maxLength": 9, "regex": "[a-z]+"},
                              "born": {"type": "date", "optional": true} } },
            "Team": { "parent": "Thing", "unique": [["code", "kind"]], "userInfo": {"color": "dark red"},
              "attributes": { "code": {"type": "string", "default": "", "userInfo": {"help": "short"}},
                              "kind": {"type": "string", "enum": ["home", "far away"]} },
              "relationships": { "captain": {"to": "Player", "min": 1},
                                 "players": {"to": "Player", "many": true, "ordered": true, "inverse": "team", "min": 2, "max": 11,
                                             "onDelete": "cascade"},
                                 "guests": {"to": "Player", "many": true, "max": 3} } },
            "Player": { "attributes": { "name": {"type": "string", "optional": true} },
                        "relationships": { "team": {"to": "Team", "inverse": "players", "onDelete": "deny"} } } } }
        """#

    @Test func `the text of a schema has all rules of attributes and relationships`() throws {
        let place = try Workplace()
        try place.write(Self.schema, to: "schema.json")
        #expect(try place.run("init", "teams", "--schema", "schema.json").code == 0)
        #expect(
            try place.run("schema", "teams").output == #"""
                Thing (abstract)  identity id
                  (index name[c], -born)
                  id    int64, mandatory, value 1 to 99
                  name  string, optional, length 2 to 9, regex [a-z]+
                  born  date, optional
                Team: Thing  identity id
                  (unique code, kind)
                  (index name[c], -born)
                  (userInfo color="dark red")
                  id       int64, mandatory, value 1 to 99
                  name     string, optional, length 2 to 9, regex [a-z]+
                  born     date, optional
                  code     string, mandatory, default "", userInfo help=short
                  kind     string, mandatory, one of home "far away"
                  captain  -> Player, mandatory
                  players  -> Player, many, ordered, mandatory, count 2 to 11, inverse team, on delete cascade
                  guests   -> Player, many, optional, count at most 3
                Player
                  name  string, optional
                  team  -> Team, optional, inverse players, on delete deny

                """#)
    }

    @Test func `the text of a schema has the expressions of derived attributes`() throws {
        let place = try Workplace()
        let schema = #"""
            {"entities": {"List": {"attributes": {"size": {"type": "int64", "derived": {"count": "parts"}}},
                                   "relationships": {"parts": {"to": "List", "many": true}}}}}
            """#
        try place.write(schema, to: "schema.json")
        #expect(try place.run("init", "lists", "--schema", "schema.json").code == 0)
        #expect(try place.run("schema", "lists").output.contains("size   int64, mandatory, derived count parts\n"))
        #expect(try place.run("schema", "lists", "--json").output.contains(#""derived":{"count":"parts"}"#))
        #expect(try place.run("insert", "lists", "List", "size=3").code != 0)
    }

    @Test func `the text of a schema has the former names`() throws {
        let place = try Workplace.withStore()
        let next = Workplace.notes.replacing(#""title": {"type": "string","#, with: #""name": {"type": "string", "renamedFrom": "title","#)
            .replacing(#""Memo": {"#, with: #""Text": { "renamedFrom": "Memo","#).replacing(#""to": "Memo""#, with: #""to": "Text""#)
        try place.write(next, to: "next.json")
        #expect(try place.run("schema", "notes", "--set", "next.json").code == 0)
        let output = try place.run("schema", "notes").output
        #expect(output.contains("name   string, mandatory, default \"\", length at most 9, renamed from title\n"), "\(output)")
        #expect(output.contains("Text\n  (renamed from Memo)\n"), "\(output)")
    }

    /// If each property took time in proportion to all properties of its entity, this test would be one of the slowest.
    @Test func `the text of a schema has each of 8,000 attributes`() throws {
        let place = try Workplace()
        let attributes = (0..<8_000).map { "\"a\($0)\":{\"type\":\"bool\"}" }.joined(separator: ",")
        try place.write("{\"entities\":{\"E\":{\"attributes\":{\(attributes)}}}}", to: "schema.json")
        #expect(try place.run("init", "large", "--schema", "schema.json").code == 0)
        let lines = try place.run("schema", "large").output.split(separator: "\n")
        #expect(lines.count == 8_001 && lines.last == "  a7999  bool, mandatory")
    }
}

import Cambium
import CambiumModel
import TestFixtures
import Testing

/// Clones that are refused. Each refusal leaves the log, the graph and its pages as they were.
@Suite struct `Refusals of clones` {
    private func note() throws -> CloneFixture { try CloneFixture(CloneModels.notes, CloneModels.wholeNote) }

    /// Makes a node and one node below it, whose ids must be unique.
    private func unique(_ rule: String, keys: String = #""unique": [["id"]],"#, others: String = "") throws -> CloneFixture {
        let userInfo = rule.isEmpty ? "" : #", "userInfo": {\#(rule)}"#
        let id = #""id": {"type": "uuid", "optional": true\#(userInfo)}, "part": {"type": "int32", "optional": true\#(others)}"#
        let links = #""down": {"to": "Node", "many": true, "inverse": "up"}, "up": {"to": "Node", "inverse": "down"}"#
        let schema = CloneModels.schema(node: links, attributes: id, keys: keys)
        return try CloneFixture(
            schema, #"{"_id":"Node/1","id":"$a","part":1,"down":["Node/2"]}"# + "\n" + #"{"_id":"Node/2","id":"$b","part":2}"#)
    }

    @Test func `an object that is deleted, unknown or of no entity is refused`() throws {
        let fixture = try note()
        try fixture.expectRefusal(.notFound, of: "Note/3", mentioning: "Note/3")
        try fixture.expectRefusal(.notFound, of: "Note/1", "Memo/99", mentioning: "Memo/99")
        try fixture.store.write { try $0.delete(fixture.id("Memo/3")) }
        try fixture.expectRefusal(.notFound, of: "Memo/3")
        let unknown = ObjectID(root: EntityNumber(rawValue: 999), serial: 1)
        #expect(code { try fixture.store.write { _ = try $0.clone(unknown) } } == .notFound)
    }

    @Test func `a clone of no objects is refused`() throws {
        try note().expectRefusal(.invalidInput)
    }

    @Test(arguments: ["nope", "name", "Note.nope", "Nope.items", "Item.memos", ""])
    func `an excluded name that is not a relationship is refused`(name: String) throws {
        let fixture = try note()
        try fixture.expectRefusal(.unknownName, of: "Note/1", with: CloneRequest(excluding: [name]))
        try fixture.expectRefusal(.unknownName, of: "Note/1", with: CloneRequest(excludedAtRoot: [name]))
    }

    @Test func `a root value without an attribute, or of a type that does not fit it, is refused`() throws {
        let fixture = try note()
        let refused: [(String, Value, CambiumError.Code)] = [
            ("nope", .int(1), .unknownName), ("items", .null, .unknownName), ("name", .int(1), .invalidInput),
            ("index", .int(1 << 40), .invalidInput),
        ]
        for (name, value, code) in refused {
            try fixture.expectRefusal(code, of: "Note/1", with: CloneRequest(rootValues: [name: value]), mentioning: name)
        }
        try fixture.expectRefusal(.unknownName, of: "Note/1", "Memo/1", with: CloneRequest(rootValues: ["name": .null]), mentioning: "Memo")
    }

    @Test func `a null for a root's mandatory attribute is refused at the end of the transaction`() throws {
        let fixture = try note()
        let files = fixture.volume.contents
        let request = CloneRequest(rootValues: ["transient": .null])
        #expect(code { try fixture.store.write { _ = try $0.clone(fixture.id("Note/1"), request) } } == .ruleViolated)
        #expect(fixture.volume.contents == files)
        try fixture.expect("")
    }

    @Test func `a negative depth and keys that are not four different words are refused`() throws {
        let fixture = try note()
        try fixture.expectRefusal(.invalidInput, of: "Note/1", with: CloneRequest(depth: -1))
        try fixture.expectRefusal(.invalidInput, of: "Note/1", with: CloneRequest(keys: CloneKeys(exclude: "rebuild")))
        try fixture.expectRefusal(.invalidInput, of: "Note/1", with: CloneRequest(keys: CloneKeys(exclude: "")))
        try fixture.expectRefusal(.invalidInput, of: "Note/1", with: CloneRequest(keys: CloneKeys(exclude: "clone")))
    }

    @Test(arguments: [1 << 31, 1 << 32, 1 << 40, Int.max])
    func `a depth of any size can be read back from the log`(depth: Int) throws {
        try CloneFixture(CloneModels.nodes, #"{"_id":"Node/1","left":"Node/2"}"# + "\n" + #"{"_id":"Node/2"}"#).clone(
            "Node/1", with: CloneRequest(depth: depth), gives: #"{"_id":"Node/3","left":"Node/4"}"# + "\n" + #"{"_id":"Node/4"}"#)
    }

    // MARK: Unique sets

    @Test(arguments: [#""unique": [["id"]],"#, #""identity": ["id"],"#])
    func `a clone that would repeat a unique set or an identity is refused, and the error names the set`(keys: String) throws {
        try unique("", keys: keys).expectRefusal(.ruleViolated, of: "Node/1", mentioning: "'Node'", "(id)", "copied through 'Node.down'")
    }

    @Test(arguments: [#""rebuild": "uuid""#, #""exclude": """#, #""followParent": "id", "withoutParent": "blank""#])
    func `a unique set with a rebuilt, excluded or followed attribute does not prevent a clone`(rule: String) throws {
        let isRebuilt = rule.contains("rebuild")
        try unique(rule).clone(
            "Node/2",
            gives: #"{"_id":"Node/3",\#(isRebuilt ? #""id":"$new1","# : "")"part":2,"up":"Node/1"}"# + "\n"
                + #"{"_id":"Node/1","id":"$a","part":1,"down":["Node/2","Node/3"]}"#)
    }

    @Test func `one renewed attribute is enough for a unique set of several attributes`() throws {
        let keys = #""unique": [["id", "part"]],"#
        try unique("", keys: keys).expectRefusal(.ruleViolated, of: "Node/2", mentioning: "(id, part)")
        try unique("", keys: keys, others: #", "userInfo": {"exclude": ""}"#).clone(
            "Node/2",
            gives: #"{"_id":"Node/3","id":"$b","up":"Node/1"}"# + "\n" + #"{"_id":"Node/1","id":"$a","part":1,"down":["Node/2","Node/3"]}"#)
    }

    @Test func `a value of the request renews a unique set if all copies of the entity are roots`() throws {
        let value = try Value(json: CloneNames.unnamed(.string("$x")), type: .uuid)
        let fixture = try unique("")
        try fixture.expectRefusal(
            .ruleViolated, of: "Node/1", with: CloneRequest(rootValues: ["id": value]), mentioning: "that the request does not name")
        try fixture.clone(
            "Node/1", with: CloneRequest(excluding: ["down"], rootValues: ["id": value]), gives: #"{"_id":"Node/3","id":"$x","part":1}"#)
        try fixture.expectRefused("Node/2", with: CloneRequest(rootValues: ["id": value]))
    }

    @Test func `copies that repeat a unique value of each other or of another object are refused at the end`() throws {
        try unique(#""followParent": "id", "withoutParent": "keep""#).expectRefused("Node/1")
        let excluded = #""part": {"type": "int32", "default": 7, "userInfo": {"exclude": ""}}"#
        let fixture = try CloneFixture(
            CloneModels.schema(node: "", attributes: excluded, keys: #""unique": [["part"]],"#),
            #"{"_id":"Node/1","part":1}"# + "\n" + #"{"_id":"Node/2","part":2}"#)
        try fixture.expectRefused("Node/1", "Node/2")
        try fixture.clone("Node/1", gives: #"{"_id":"Node/3","part":7}"#)
        try fixture.expectRefused("Node/1")
    }

    // MARK: Rules of the schema

    @Test func `a followed value that does not fit is refused`() throws {
        let label =
            #""label": {"type": "string", "optional": true, "maxLength": 2, "userInfo": {"followParent": "name", "withoutParent": "keep"}}"#
        let fixture = try CloneFixture(
            CloneModels.schema(node: #""left": {"to": "Node"}"#, attributes: label),
            #"{"_id":"Node/1","name":"long","left":"Node/2"}"# + "\n" + #"{"_id":"Node/2"}"#)
        try fixture.expectRefusal(.ruleViolated, of: "Node/1", mentioning: "Node/2", "label")
    }

    @Test func `a rebuilt time beyond the maximum of its attribute is refused`() throws {
        let when = #""when": {"type": "date", "optional": true, "max": "2001-01-01T00:00:00Z", "userInfo": {"rebuild": "now"}}"#
        let fixture = try CloneFixture(CloneModels.schema(node: "", attributes: when), #"{"_id":"Node/1"}"#)
        try fixture.expectRefused("Node/1")
    }

    @Test func `a time or a new UUID of the parent that does not fit is refused`() throws {
        let made = #""made": {"type": "date", "optional": true, "userInfo": {"rebuild": "now"}}"#
        let when =
            #""when": {"type": "date", "optional": true, "max": "2001-01-01T00:00:00Z", "#
            + #""userInfo": {"followParent": "made", "withoutParent": "keep"}}"#
        let nodes = #"{"_id":"Node/1","left":"Node/2"}"# + "\n" + #"{"_id":"Node/2"}"#
        let times = try CloneFixture(CloneModels.schema(node: #""left": {"to": "Node"}"#, attributes: made + ", " + when), nodes)
        try times.expectRefused("Node/1")
        try times.clone("Node/2", gives: #"{"_id":"Node/3","made":"$now"}"#)
        let id = #""id": {"type": "uuid", "optional": true, "userInfo": {"rebuild": "uuid"}}"#
        let owner =
            #""owner": {"type": "uuid", "optional": true, "enum": ["00000000-0000-4000-8000-000000000001"], "#
            + #""userInfo": {"followParent": "id", "withoutParent": "keep"}}"#
        let uuids = try CloneFixture(CloneModels.schema(node: #""left": {"to": "Node"}"#, attributes: id + ", " + owner), nodes)
        try uuids.expectRefusal(.ruleViolated, of: "Node/1", mentioning: "Node.owner")
    }

    @Test func `a new UUID that is not one of the allowed values is refused`() throws {
        let id =
            #""id": {"type": "uuid", "optional": true, "enum": ["00000000-0000-4000-8000-000000000001"], "userInfo": {"rebuild": "uuid"}}"#
        let fixture = try CloneFixture(CloneModels.schema(node: "", attributes: id), #"{"_id":"Node/1"}"#)
        try fixture.expectRefusal(.ruleViolated, of: "Node/1", mentioning: "Node.id")
    }

    @Test func `a time that no copy gets is not checked`() throws {
        let when =
            #""when": {"type": "date", "optional": true, "max": "2001-01-01T00:00:00Z", "#
            + #""userInfo": {"rebuild": "now", "followParent": "when", "withoutParent": "blank"}}"#
        let fixture = try CloneFixture(
            CloneModels.schema(node: #""left": {"to": "Node"}"#, attributes: when),
            #"{"_id":"Node/1","left":"Node/2"}"# + "\n" + #"{"_id":"Node/2"}"#)
        try fixture.clone("Node/2", gives: #"{"_id":"Node/3"}"#)
        let early = try Value(text: "2000-01-01T00:00:00Z", type: .date)
        try fixture.clone(
            "Node/1", with: CloneRequest(rootValues: ["when": early]),
            gives: #"{"_id":"Node/4","when":"2000-01-01T00:00:00Z","left":"Node/5"}"# + "\n"
                + #"{"_id":"Node/5","when":"2000-01-01T00:00:00Z"}"#)
    }

    @Test func `too many or too few members of a copy or of an object linked to it are refused`() throws {
        func fixture(_ bounds: String, _ back: String) throws -> CloneFixture {
            let schema = CloneModels.pair(#""many": true, "inverse": "node"\#(bounds)"#, back: #""inverse": "leaves"\#(back)"#)
            return try CloneFixture(
                schema, #"{"_id":"Node/1","leaves":["Leaf/1","Leaf/2"]}"# + "\n" + #"{"_id":"Leaf/1"}"# + "\n" + #"{"_id":"Leaf/2"}"#)
        }
        try fixture(#", "max": 2"#, "").expectRefused("Leaf/1")
        try fixture(#", "min": 1"#, "").expectRefused("Node/1", with: CloneRequest(excluding: ["leaves"]))
        try fixture("", #", "min": 1"#).expectRefused("Leaf/1", with: CloneRequest(excluding: ["node"]))
        try fixture(#", "max": 2"#, #", "min": 1"#).clone(
            "Node/1",
            gives: #"""
                {"_id":"Node/2","leaves":["Leaf/3","Leaf/4"]}
                {"_id":"Leaf/3","node":"Node/2"}
                {"_id":"Leaf/4","node":"Node/2"}
                """#)
    }
}

extension CloneFixture {
    /// Expects that a clone can be planned, but breaks a rule of the schema and changes nothing.
    fileprivate func expectRefused(
        _ ids: String..., with request: CloneRequest = CloneRequest(), at location: SourceLocation = #_sourceLocation
    )
        throws
    {
        let (files, ids) = (volume.contents, try ids.map { try id($0) })
        let found = code { try store.write { _ = try $0.clone(ids, request) } }
        #expect(found == .ruleViolated && volume.contents == files, sourceLocation: location)
        try expect("", at: location)
    }
}

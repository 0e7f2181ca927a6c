import CambiumModel
import Testing

@testable import Cambium

/// Schemas and requests that override the rule of the inverse, and the limits of a clone.
@Suite struct `Overrides and limits of clones` {
    private static let manyToMany = #""many": true, "inverse": "node""#
    private static let back = #""many": true, "inverse": "leaves""#

    /// Makes a node with two leaves, one of which belongs to another node as well.
    private func common(_ rule: String) throws -> CloneFixture {
        let rule = rule.isEmpty ? "" : #", "userInfo": {"clone": "\#(rule)"}"#
        return try CloneFixture(
            CloneModels.pair(Self.manyToMany + rule, back: Self.back),
            #"""
            {"_id":"Node/1","name":"a","leaves":["Leaf/1","Leaf/2"]}
            {"_id":"Leaf/1","name":"x"}
            {"_id":"Leaf/2","name":"y","node":["Node/2"]}
            {"_id":"Node/2","name":"b"}
            """#)
    }

    @Test(arguments: ["copy", "Copy"])
    func `clone: copy on a many-to-many copies the targets, which are linked to copies only`(rule: String) throws {
        try common(rule).clone(
            "Node/1",
            gives: #"""
                {"_id":"Node/3","name":"a","leaves":["Leaf/3","Leaf/4"]}
                {"_id":"Leaf/3","name":"x","node":["Node/3"]}
                {"_id":"Leaf/4","name":"y","node":["Node/3"]}
                """#)
    }

    @Test func `clone: copy asked for by the request is the same`() throws {
        var request = CloneRequest()
        request.rules = ["leaves": .skip, "Node.leaves": .copy]
        try common("").clone(
            "Node/1", with: request,
            gives: #"""
                {"_id":"Node/3","name":"a","leaves":["Leaf/3","Leaf/4"]}
                {"_id":"Leaf/3","name":"x","node":["Node/3"]}
                {"_id":"Leaf/4","name":"y","node":["Node/3"]}
                """#)
    }

    @Test func `clone: skip leaves a branch out`() throws {
        try common("skip").clone("Node/1", gives: #"{"_id":"Node/3","name":"a"}"#)
    }

    @Test func `clone: share on a relationship without inverse links to the same targets`() throws {
        let schema = CloneModels.schema(
            node:
                #"""
                "left": {"to": "Node", "userInfo": {"clone": "share"}},
                "parts": {"to": "Node", "many": true, "userInfo": {"clone": "SHARE"}}
                """#
        )
        let fixture = try CloneFixture(
            schema,
            #"""
            {"_id":"Node/1","left":"Node/2","parts":["Node/2","Node/3"]}
            {"_id":"Node/2"}
            {"_id":"Node/3"}
            """#)
        try fixture.clone("Node/1", gives: #"{"_id":"Node/4","left":"Node/2","parts":["Node/2","Node/3"]}"#)
    }

    @Test func `the request goes before the schema: share where the schema copies, copy where it skips`() throws {
        var request = CloneRequest()
        request.rules = ["leaves": .share]
        try common("copy").clone(
            "Node/1", with: request,
            gives: #"""
                {"_id":"Node/3","name":"a","leaves":["Leaf/1","Leaf/2"]}
                {"_id":"Leaf/1","name":"x","node":["Node/1","Node/3"]}
                {"_id":"Leaf/2","name":"y","node":["Node/1","Node/2","Node/3"]}
                """#)
        request.rules = ["leaves": .copy]
        try common("skip").clone(
            "Node/1", with: request,
            gives: #"""
                {"_id":"Node/3","name":"a","leaves":["Leaf/3","Leaf/4"]}
                {"_id":"Leaf/3","name":"x","node":["Node/3"]}
                {"_id":"Leaf/4","name":"y","node":["Node/3"]}
                """#)
    }

    @Test func `share is refused where the inverse is to-one: in the schema, under renamed keys, in the request`() throws {
        let owned = #""many": true, "inverse": "node""#
        #expect(
            code {
                _ = try CloneFixture(CloneModels.pair(owned + #", "userInfo": {"clone": "share"}"#, back: #""inverse": "leaves""#), "")
            } == .invalidInput)
        let fixture = try CloneFixture(CloneModels.pair(owned, back: #""inverse": "leaves""#), #"{"_id":"Node/1"}"#)
        var request = CloneRequest()
        request.rules = ["leaves": .share]
        try fixture.expectRefusal(.invalidInput, of: "Node/1", with: request, telling: "Node.leaves")
    }

    @Test func `an unknown word for clone refuses the schema`() {
        #expect(code { _ = try common("shared") } == .invalidInput)
    }

    // MARK: Limits

    private func tree() throws -> CloneFixture {
        try CloneFixture(
            CloneModels.nodes,
            #"""
            {"_id":"Node/1","children":["Node/2"],"friends":["Node/4"]}
            {"_id":"Node/2","children":["Node/3"],"friends":["Node/4"],"left":"Node/4"}
            {"_id":"Node/3","name":"leaf"}
            {"_id":"Node/4","name":"other"}
            """#)
    }

    @Test func `depth 0: the root alone, with what it shares`() throws {
        try tree().clone(
            "Node/1", with: CloneRequest(depth: 0),
            gives: #"""
                {"_id":"Node/5","friends":["Node/4"]}
                {"_id":"Node/4","name":"other","friends":["Node/1","Node/2","Node/5"]}
                """#)
    }

    @Test func `depth 1: owned links at the limit are empty, and shared ones are kept`() throws {
        try tree().clone(
            "Node/1", with: CloneRequest(depth: 1),
            gives: #"""
                {"_id":"Node/5","children":["Node/6"],"friends":["Node/4"]}
                {"_id":"Node/6","parent":"Node/5","friends":["Node/4"]}
                {"_id":"Node/4","name":"other","friends":["Node/1","Node/2","Node/5","Node/6"]}
                """#)
    }

    @Test func `depth is that of the first way: a link between two objects at the limit is kept`() throws {
        let fixture = try CloneFixture(
            CloneModels.nodes,
            #"""
            {"_id":"Node/1","left":"Node/2","right":"Node/3"}
            {"_id":"Node/2","left":"Node/3"}
            {"_id":"Node/3","left":"Node/4","right":"Node/1"}
            {"_id":"Node/4"}
            """#)
        try fixture.clone(
            "Node/1", with: CloneRequest(depth: 1),
            gives: #"""
                {"_id":"Node/5","left":"Node/6","right":"Node/7"}
                {"_id":"Node/6","left":"Node/7"}
                {"_id":"Node/7","right":"Node/5"}
                """#)
    }

    @Test func `beyond the maximum number of objects the clone fails; at it, it does not`() throws {
        let fixture = try CloneFixture(
            CloneModels.nodes,
            #"""
            {"_id":"Node/1","children":["Node/2"]}
            {"_id":"Node/2","children":["Node/3"]}
            {"_id":"Node/3","name":"leaf"}
            """#)
        for limit in [-1, 0, 2] {
            try fixture.expectRefusal(.limitExceeded, of: "Node/1", with: CloneRequest(objectCountMax: limit), telling: "\(limit)")
        }
        try fixture.clone(
            "Node/1", with: CloneRequest(objectCountMax: 3),
            gives: #"""
                {"_id":"Node/4","children":["Node/5"]}
                {"_id":"Node/5","parent":"Node/4","children":["Node/6"]}
                {"_id":"Node/6","name":"leaf","parent":"Node/5"}
                """#)
    }
}

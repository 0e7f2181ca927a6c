import Cambium
import CambiumModel
import TestFixtures
import Testing

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
    func `the rule copy on a many-to-many copies the targets, which are linked only to copies`(rule: String) throws {
        try common(rule).clone(
            "Node/1",
            gives: #"""
                {"_id":"Node/3","name":"a","leaves":["Leaf/3","Leaf/4"]}
                {"_id":"Leaf/3","name":"x","node":["Node/3"]}
                {"_id":"Leaf/4","name":"y","node":["Node/3"]}
                """#)
    }

    @Test func `the rule copy has the same effect in a request`() throws {
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

    @Test func `the rule skip omits a branch`() throws {
        try common("skip").clone("Node/1", gives: #"{"_id":"Node/3","name":"a"}"#)
    }

    @Test func `the rule share on a relationship without inverse links to the same targets`() throws {
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

    @Test func `the rules of a request override the rules of the schema`() throws {
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

    @Test func `the rule share is refused in a schema and in a request if the inverse is to-one`() throws {
        let owned = #""many": true, "inverse": "node""#
        #expect(
            code {
                _ = try CloneFixture(CloneModels.pair(owned + #", "userInfo": {"clone": "share"}"#, back: #""inverse": "leaves""#), "")
            } == .invalidInput)
        let fixture = try CloneFixture(CloneModels.pair(owned, back: #""inverse": "leaves""#), #"{"_id":"Node/1"}"#)
        var request = CloneRequest()
        request.rules = ["leaves": .share]
        try fixture.expectRefusal(.invalidInput, of: "Node/1", with: request, mentioning: "Node.leaves")
    }

    @Test func `a schema with an unknown clone rule is refused`() {
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

    @Test func `depth 0 copies the root alone, with its shared links`() throws {
        try tree().clone(
            "Node/1", with: CloneRequest(depth: 0),
            gives: #"""
                {"_id":"Node/5","friends":["Node/4"]}
                {"_id":"Node/4","name":"other","friends":["Node/1","Node/2","Node/5"]}
                """#)
    }

    @Test func `owned links at the depth limit are empty, and shared links are kept`() throws {
        try tree().clone(
            "Node/1", with: CloneRequest(depth: 1),
            gives: #"""
                {"_id":"Node/5","children":["Node/6"],"friends":["Node/4"]}
                {"_id":"Node/6","parent":"Node/5","friends":["Node/4"]}
                {"_id":"Node/4","name":"other","friends":["Node/1","Node/2","Node/5","Node/6"]}
                """#)
    }

    @Test func `the shortest way determines the depth, and a link between two objects at the limit is kept`() throws {
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

    @Test func `a clone fails only beyond the maximum number of objects`() throws {
        let fixture = try CloneFixture(
            CloneModels.nodes,
            #"""
            {"_id":"Node/1","children":["Node/2"]}
            {"_id":"Node/2","children":["Node/3"]}
            {"_id":"Node/3","name":"leaf"}
            """#)
        for limit in [-1, 0, 2] {
            try fixture.expectRefusal(.limitExceeded, of: "Node/1", with: CloneRequest(objectCountMax: limit), mentioning: "\(limit)")
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

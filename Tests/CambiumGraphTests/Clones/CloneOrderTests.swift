import Cambium
import CambiumModel
import Testing

/// The order of the walk is a part of algorithm 1 of clones in the log. It determines the serials of the copies and the parent of each
/// copy.
@Suite struct `Order of clones` {
    /// Makes nodes that take the name of the node from which the walk first reached them.
    private func followers(_ lines: String) throws -> CloneFixture {
        let follow = #""from": {"type": "string", "optional": true, "userInfo": {"followParent": "name", "withoutParent": "blank"}}"#
        let links = #"""
            "left": {"to": "Node"}, "right": {"to": "Node"}, "parts": {"to": "Node", "many": true},
            "list": {"to": "Node", "many": true, "ordered": true}
            """#
        return try CloneFixture(CloneModels.schema(node: links, attributes: follow), lines)
    }

    @Test func `serials of copies ascend like the serials of the originals, whatever the order of the walk is`() throws {
        let fixture = try followers(
            #"""
            {"_id":"Node/1","name":"below"}
            {"_id":"Node/2","name":"unrelated"}
            {"_id":"Node/3","name":"middle","left":"Node/1"}
            {"_id":"Node/4","name":"top","right":"Node/3"}
            """#)
        try fixture.clone(
            "Node/4",
            gives: #"""
                {"_id":"Node/5","name":"below","from":"middle"}
                {"_id":"Node/6","name":"middle","from":"top","left":"Node/5"}
                {"_id":"Node/7","name":"top","right":"Node/6"}
                """#)
    }

    @Test func `the parent of a copy is the referrer that is nearest to the root`() throws {
        let fixture = try followers(
            #"""
            {"_id":"Node/1","name":"top","left":"Node/2","right":"Node/3"}
            {"_id":"Node/2","name":"a","left":"Node/3"}
            {"_id":"Node/3","name":"b"}
            """#)
        try fixture.clone(
            "Node/1",
            gives: #"""
                {"_id":"Node/4","name":"top","left":"Node/5","right":"Node/6"}
                {"_id":"Node/5","name":"a","from":"top","left":"Node/6"}
                {"_id":"Node/6","name":"b","from":"top"}
                """#)
    }

    @Test func `the declaration order of relationships decides between referrers of one level, not their ids`() throws {
        let fixture = try followers(
            #"""
            {"_id":"Node/1","name":"top","left":"Node/3","right":"Node/2"}
            {"_id":"Node/2","name":"right","left":"Node/4"}
            {"_id":"Node/3","name":"left","right":"Node/4"}
            {"_id":"Node/4","name":"below"}
            """#)
        try fixture.clone(
            "Node/1",
            gives: #"""
                {"_id":"Node/5","name":"top","left":"Node/7","right":"Node/6"}
                {"_id":"Node/6","name":"right","from":"top","left":"Node/8"}
                {"_id":"Node/7","name":"left","from":"top","right":"Node/8"}
                {"_id":"Node/8","name":"below","from":"left"}
                """#)
    }

    @Test(arguments: [("parts", "second"), ("list", "third")])
    func `the order of members decides next, by ascending id if unordered and as stored if ordered`(
        relationship: String, from: String
    ) throws {
        let fixture = try followers(
            #"""
            {"_id":"Node/1","name":"top","\#(relationship)":["Node/3","Node/2"]}
            {"_id":"Node/2","name":"second","left":"Node/4"}
            {"_id":"Node/3","name":"third","left":"Node/4"}
            {"_id":"Node/4","name":"below"}
            """#)
        let members = relationship == "list" ? #""Node/7","Node/6""# : #""Node/6","Node/7""#
        try fixture.clone(
            "Node/1",
            gives: #"""
                {"_id":"Node/5","name":"top","\#(relationship)":[\#(members)]}
                {"_id":"Node/6","name":"second","from":"top","left":"Node/8"}
                {"_id":"Node/7","name":"third","from":"top","left":"Node/8"}
                {"_id":"Node/8","name":"below","from":"\#(from)"}
                """#)
    }

    @Test func `the order of the request decides between roots`() throws {
        let lines = #"""
            {"_id":"Node/1","name":"a","left":"Node/3"}
            {"_id":"Node/2","name":"b","left":"Node/3"}
            {"_id":"Node/3","name":"below"}
            """#
        for (first, second, from) in [("Node/1", "Node/2", "a"), ("Node/2", "Node/1", "b")] {
            try followers(lines).clone(
                first, second,
                gives: #"""
                    {"_id":"Node/4","name":"a","left":"Node/6"}
                    {"_id":"Node/5","name":"b","left":"Node/6"}
                    {"_id":"Node/6","name":"below","from":"\#(from)"}
                    """#)
        }
    }

    @Test func `a root has no parent, even if another root leads to it`() throws {
        let fixture = try followers(#"{"_id":"Node/1","name":"a","left":"Node/2"}"# + "\n" + #"{"_id":"Node/2","name":"b","from":"x"}"#)
        try fixture.clone(
            "Node/1", "Node/2", gives: #"{"_id":"Node/3","name":"a","left":"Node/4"}"# + "\n" + #"{"_id":"Node/4","name":"b"}"#)
    }

    @Test func `inherited relationships come before an entity's own`() throws {
        let follow = #""from": {"type": "string", "optional": true, "userInfo": {"followParent": "name", "withoutParent": "blank"}}"#
        let others = #""Sub": {"parent": "Node", "relationships": {"own": {"to": "Node"}}}"#
        let fixture = try CloneFixture(
            CloneModels.schema(node: #""left": {"to": "Node"}"#, attributes: follow, others),
            #"""
            {"_id":"Sub/1","name":"top","own":"Node/2","left":"Node/3"}
            {"_id":"Node/2","name":"by own","left":"Node/4"}
            {"_id":"Node/3","name":"by left","left":"Node/4"}
            {"_id":"Node/4","name":"below"}
            """#)
        try fixture.clone(
            "Sub/1",
            gives: #"""
                {"_id":"Sub/5","name":"top","own":"Node/6","left":"Node/7"}
                {"_id":"Node/6","name":"by own","from":"top","left":"Node/8"}
                {"_id":"Node/7","name":"by left","from":"top","left":"Node/8"}
                {"_id":"Node/8","name":"below","from":"by left"}
                """#)
    }

    @Test func `a copy never gets the serial of a deleted object`() throws {
        let fixture = try followers(#"{"_id":"Node/1","name":"a"}"# + "\n" + #"{"_id":"Node/2","name":"b"}"#)
        try fixture.store.write { try $0.delete(fixture.id("Node/2")) }
        try fixture.clone("Node/1", gives: #"{"_id":"Node/3","name":"a"}"# + "\n" + #"{"_id":"Node/2","_gone":true}"#)
    }
}

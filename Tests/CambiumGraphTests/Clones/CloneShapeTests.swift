import Cambium
import CambiumModel
import TestFixtures
import Testing

/// The copies of a graph, one shape of graph after another.
@Suite struct `Shapes of clones` {
    private func nodes(_ lines: String) throws -> CloneFixture { try CloneFixture(CloneModels.nodes, lines) }

    @Test func `a single object is copied`() throws {
        let fixture = try nodes(#"{"_id":"Node/1","name":"a"}"#)
        let clone = try fixture.clone("Node/1", gives: #"{"_id":"Node/2","name":"a"}"#)
        #expect(try clone.root == fixture.id("Node/2") && clone.summary.counts.map(\.count) == [1])
    }

    @Test func `the target of a one-to-one is copied`() throws {
        let fixture = try CloneFixture(
            CloneModels.notes,
            #"{"_id":"Note/1","name":"n","noteDescription":"NoteDescription/1"}"# + "\n" + #"{"_id":"NoteDescription/1","content":"d"}"#)
        try fixture.clone(
            "Note/1",
            gives: #"""
                {"_id":"Note/2","createDate":"$now","id":"$new1","index":0,"name":"n","transient":true,\#
                "noteDescription":"NoteDescription/2"}
                {"_id":"NoteDescription/2","content":"d","note":"Note/2"}
                """#)
    }

    @Test func `the members of a one-to-many are copied`() throws {
        let fixture = try nodes(
            #"""
            {"_id":"Node/1","name":"a"}
            {"_id":"Node/2","name":"b","parent":"Node/1"}
            {"_id":"Node/3","name":"c","parent":"Node/1"}
            """#)
        try fixture.clone(
            "Node/1",
            gives: #"""
                {"_id":"Node/4","name":"a","children":["Node/5","Node/6"]}
                {"_id":"Node/5","name":"b","parent":"Node/4"}
                {"_id":"Node/6","name":"c","parent":"Node/4"}
                """#)
    }

    @Test func `the members of a many-to-many are shared from both sides`() throws {
        let schema = CloneModels.pair(#""many": true, "inverse": "node""#, back: #""many": true, "inverse": "leaves""#)
        let fixture = try CloneFixture(
            schema,
            #"""
            {"_id":"Node/1","name":"a","leaves":["Leaf/1","Leaf/2"]}
            {"_id":"Leaf/1","name":"x"}
            {"_id":"Leaf/2","name":"y"}
            """#)
        try fixture.clone(
            "Node/1",
            gives: #"""
                {"_id":"Node/2","name":"a","leaves":["Leaf/1","Leaf/2"]}
                {"_id":"Leaf/1","name":"x","node":["Node/1","Node/2"]}
                {"_id":"Leaf/2","name":"y","node":["Node/1","Node/2"]}
                """#)
        try fixture.clone(
            "Leaf/2",
            gives: #"""
                {"_id":"Leaf/3","name":"y","node":["Node/1","Node/2"]}
                {"_id":"Node/1","name":"a","leaves":["Leaf/1","Leaf/2","Leaf/3"]}
                {"_id":"Node/2","name":"a","leaves":["Leaf/1","Leaf/2","Leaf/3"]}
                """#)
    }

    @Test(arguments: [#""inverse": "leaves""#, ""])
    func `ordered members are copied in their stored order, not in the order of their ids`(back: String) throws {
        let inverse = back.isEmpty ? "" : #", "inverse": "node""#
        let fixture = try CloneFixture(
            CloneModels.pair(#""many": true, "ordered": true\#(inverse)"#, back: back),
            #"""
            {"_id":"Node/1","leaves":["Leaf/3","Leaf/1","Leaf/2"]}
            {"_id":"Leaf/1","name":"x"}
            {"_id":"Leaf/2","name":"y"}
            {"_id":"Leaf/3","name":"z"}
            """#)
        let node = back.isEmpty ? "" : #","node":"Node/2""#
        try fixture.clone(
            "Node/1",
            gives: #"""
                {"_id":"Node/2","leaves":["Leaf/6","Leaf/4","Leaf/5"]}
                {"_id":"Leaf/4","name":"x"\#(node)}
                {"_id":"Leaf/5","name":"y"\#(node)}
                {"_id":"Leaf/6","name":"z"\#(node)}
                """#)
    }

    @Test func `shared ordered members keep their order`() throws {
        let schema = CloneModels.pair(#""many": true, "ordered": true, "inverse": "node""#, back: #""many": true, "inverse": "leaves""#)
        let fixture = try CloneFixture(
            schema,
            #"""
            {"_id":"Node/1","leaves":["Leaf/2","Leaf/1"]}
            {"_id":"Leaf/1"}
            {"_id":"Leaf/2"}
            """#)
        try fixture.clone(
            "Node/1",
            gives: #"""
                {"_id":"Node/2","leaves":["Leaf/2","Leaf/1"]}
                {"_id":"Leaf/1","node":["Node/1","Node/2"]}
                {"_id":"Leaf/2","node":["Node/1","Node/2"]}
                """#)
    }

    @Test func `copies of sub-entities keep their entity, with the attributes and links that only it has`() throws {
        let others = #"""
            "Leaf": {"parent": "Node", "attributes": {"size": {"type": "int32", "optional": true}}},
            "Fruit": {"parent": "Leaf", "relationships": {"seed": {"to": "Leaf"}}}
            """#
        let children = #""up": {"to": "Node", "inverse": "down"}, "down": {"to": "Node", "many": true, "inverse": "up"}"#
        let fixture = try CloneFixture(
            CloneModels.schema(node: children, others),
            #"""
            {"_id":"Node/1","down":["Leaf/2","Fruit/3"]}
            {"_id":"Leaf/2","name":"l","size":1}
            {"_id":"Fruit/3","name":"f","size":2,"seed":"Leaf/4"}
            {"_id":"Leaf/4","name":"s"}
            """#)
        let clone = try fixture.clone(
            "Node/1",
            gives: #"""
                {"_id":"Node/5","down":["Leaf/6","Fruit/7"]}
                {"_id":"Leaf/6","name":"l","size":1,"up":"Node/5"}
                {"_id":"Fruit/7","name":"f","size":2,"seed":"Leaf/8","up":"Node/5"}
                {"_id":"Leaf/8","name":"s"}
                """#)
        #expect(clone.summary.counts.map { "\($0.entity.name) \($0.count)" } == ["Node 1", "Leaf 2", "Fruit 1"])
    }

    @Test(arguments: 1...3)
    func `a ring of three is copied from any of its members`(first: Int) throws {
        let fixture = try nodes(
            #"""
            {"_id":"Node/1","name":"a","next":"Node/2"}
            {"_id":"Node/2","name":"b","next":"Node/3"}
            {"_id":"Node/3","name":"c","next":"Node/1"}
            """#)
        try fixture.clone(
            "Node/\(first)",
            gives: #"""
                {"_id":"Node/4","name":"a","next":"Node/5","previous":"Node/6"}
                {"_id":"Node/5","name":"b","next":"Node/6","previous":"Node/4"}
                {"_id":"Node/6","name":"c","next":"Node/4","previous":"Node/5"}
                """#)
    }

    @Test func `a ring of three without inverses is copied`() throws {
        let fixture = try nodes(
            #"""
            {"_id":"Node/1","left":"Node/2"}
            {"_id":"Node/2","left":"Node/3"}
            {"_id":"Node/3","left":"Node/1"}
            """#)
        try fixture.clone(
            "Node/2",
            gives: #"""
                {"_id":"Node/4","left":"Node/5"}
                {"_id":"Node/5","left":"Node/6"}
                {"_id":"Node/6","left":"Node/4"}
                """#)
    }

    @Test func `the copy of an object that is linked to itself is linked to itself`() throws {
        let fixture = try nodes(
            #"{"_id":"Node/1","parent":"Node/1","next":"Node/1","left":"Node/1","friends":["Node/1"],"follows":["Node/1"]}"#)
        let links = #""children":["Node/2"],"previous":"Node/2","followers":["Node/2"]"#
        try fixture.clone(
            "Node/1",
            gives:
                #"{"_id":"Node/2","parent":"Node/2","next":"Node/2","left":"Node/2","friends":["Node/2"],"follows":["Node/2"],\#(links)}"#)
    }

    @Test func `a tree of depth 10 is copied`() throws {
        func lines(_ first: Int, known: Bool) -> String {
            (0..<2047).map { number in
                let parent = number == 0 ? "" : #","parent":"Node/\#(first + (number - 1) / 2)""#
                let children =
                    number < 1023 && known ? #","children":["Node/\#(first + 2 * number + 1)","Node/\#(first + 2 * number + 2)"]"# : ""
                return #"{"_id":"Node/\#(first + number)","name":"\#(number)"\#(parent)\#(children)}"#
            }.joined(separator: "\n")
        }
        let fixture = try nodes(lines(1, known: false))
        try fixture.clone("Node/1", gives: lines(2048, known: true))
    }

    @Test func `a diamond stays a diamond`() throws {
        let fixture = try nodes(
            #"""
            {"_id":"Node/1","left":"Node/2","right":"Node/3"}
            {"_id":"Node/2","left":"Node/4"}
            {"_id":"Node/3","parts":["Node/4"]}
            {"_id":"Node/4","name":"below"}
            """#)
        try fixture.clone(
            "Node/1",
            gives: #"""
                {"_id":"Node/5","left":"Node/6","right":"Node/7"}
                {"_id":"Node/6","left":"Node/8"}
                {"_id":"Node/7","parts":["Node/8"]}
                {"_id":"Node/8","name":"below"}
                """#)
    }

    @Test func `copies in a self-referencing many-to-many link to copies and to the other targets of the originals`() throws {
        let fixture = try nodes(
            #"""
            {"_id":"Node/1","children":["Node/2"],"friends":["Node/2","Node/3"],"follows":["Node/2","Node/3"]}
            {"_id":"Node/2","follows":["Node/1"]}
            {"_id":"Node/3","follows":["Node/1"]}
            """#)
        let others = #""friends":["Node/3","Node/5"],"follows":["Node/3","Node/5"],"followers":["Node/3","Node/5"]"#
        let third = #""friends":["Node/1","Node/4"],"follows":["Node/1","Node/4"],"followers":["Node/1","Node/4"]"#
        try fixture.clone(
            "Node/1",
            gives: #"""
                {"_id":"Node/4","children":["Node/5"],\#(others)}
                {"_id":"Node/5","parent":"Node/4","friends":["Node/4"],"follows":["Node/4"],"followers":["Node/4"]}
                {"_id":"Node/3",\#(third)}
                """#)
    }

    @Test func `a clone of a clone can be cloned again`() throws {
        let fixture = try nodes(
            #"""
            {"_id":"Node/1","name":"a","children":["Node/2"],"friends":["Node/3"]}
            {"_id":"Node/2","name":"b"}
            {"_id":"Node/3","name":"c"}
            """#)
        for copy in stride(from: 4, through: 8, by: 2) {
            let friends = (["Node/1"] + stride(from: 4, through: copy, by: 2).map { "Node/\($0)" }).map { #""\#($0)""# }
            try fixture.clone(
                copy == 4 ? "Node/1" : "Node/\(copy - 2)",
                gives: #"""
                    {"_id":"Node/\#(copy)","name":"a","children":["Node/\#(copy + 1)"],"friends":["Node/3"]}
                    {"_id":"Node/\#(copy + 1)","name":"b","parent":"Node/\#(copy)"}
                    {"_id":"Node/3","name":"c","friends":[\#(friends.joined(separator: ","))]}
                    """#)
        }
        let graph = fixture.store.graph
        let sources = try [8, 6, 4, 1].map { graph.source(of: try fixture.id("Node/\($0)"))?.serial }
        #expect(sources == [6, 4, 1, nil])
    }

    @Test func `several roots are copied together, and share the copies of their common targets`() throws {
        let fixture = try nodes(
            #"""
            {"_id":"Node/1","left":"Node/3"}
            {"_id":"Node/2","left":"Node/3","right":"Node/1"}
            {"_id":"Node/3"}
            """#)
        let clone = try fixture.clone(
            "Node/2", "Node/1",
            gives: #"""
                {"_id":"Node/4","left":"Node/6"}
                {"_id":"Node/5","left":"Node/6","right":"Node/4"}
                {"_id":"Node/6"}
                """#)
        #expect(clone.roots.map(\.serial) == [5, 4])
    }

    @Test func `an object that is requested twice is copied once`() throws {
        let fixture = try nodes(#"{"_id":"Node/1","name":"a"}"#)
        let id = try fixture.id("Node/1")
        let clone = try fixture.store.write { try $0.clone([id, id]) }.result
        #expect(clone.map.count == 1)
        try fixture.expect(#"{"_id":"Node/2","name":"a"}"#)
    }

    @Test func `stubs are copied as stubs`() throws {
        let keys = #""identity": ["name"],"#
        let fixture = try CloneFixture(
            CloneModels.schema(
                node: #""left": {"to": "Node"}"#, attributes: #""id": {"type": "uuid", "userInfo": {"rebuild": "uuid"}}"#, keys: keys
            ).replacing(#""identity": ["name"]"#, with: #""identity": ["id"]"#), "")
        let row = #"{"id":"00000000-0000-4000-8000-000000000061","left":"00000000-0000-4000-8000-000000000062"}"#
        try fixture.store.importing("Node", row)
        try fixture.expect(
            #"""
            {"_id":"Node/1","id":"$a","left":"Node/2"}
            {"_id":"Node/2","_stub":true,"id":"$b"}
            """#)
        try fixture.clone(
            "Node/1",
            gives: #"""
                {"_id":"Node/3","id":"$new1","left":"Node/4"}
                {"_id":"Node/4","_stub":true,"id":"$new2"}
                """#)
    }
}

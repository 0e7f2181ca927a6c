import Cambium
import CambiumModel
import TestFixtures
import Testing

/// Tests of the relationships that a clone follows, shares or omits.
@Suite struct `Branches of clones` {
    private func nodes(_ lines: String) throws -> CloneFixture { try CloneFixture(CloneModels.nodes, lines) }

    /// Makes three levels of nodes. Each node is the only child of the node above it.
    private func levels() throws -> CloneFixture {
        try nodes(
            #"""
            {"_id":"Node/1","children":["Node/2"],"friends":["Node/4"]}
            {"_id":"Node/2","children":["Node/3"],"friends":["Node/4"]}
            {"_id":"Node/3","left":"Node/4"}
            {"_id":"Node/4","name":"other"}
            """#)
    }

    // MARK: The inverse decides

    @Test func `a target with a to-many inverse is shared at every depth and at the root`() throws {
        let fixture = try levels()
        try fixture.clone(
            "Node/1", with: CloneRequest(excluding: ["left"]),
            gives: #"""
                {"_id":"Node/5","children":["Node/6"],"friends":["Node/4"]}
                {"_id":"Node/6","parent":"Node/5","children":["Node/7"],"friends":["Node/4"]}
                {"_id":"Node/7","parent":"Node/6"}
                {"_id":"Node/4","name":"other","friends":["Node/1","Node/2","Node/5","Node/6"]}
                """#)
    }

    @Test func `copies are appended to an ordered inverse`() throws {
        let fixture = try CloneFixture(
            CloneModels.notes,
            #"""
            {"_id":"Note/1","id":"$a","memos":["Memo/2","Memo/1"]}
            {"_id":"Memo/1","text":"x"}
            {"_id":"Memo/2","text":"y"}
            """#)
        let note = #""_id":"Note/1","id":"$a","index":0,"transient":true"#
        try fixture.clone(
            "Memo/1",
            gives: #"{"_id":"Memo/3","text":"x","note":"Note/1"}"# + "\n" + #"{\#(note),"memos":["Memo/2","Memo/1","Memo/3"]}"#)
        try fixture.clone(
            "Memo/2",
            gives: #"{"_id":"Memo/4","text":"y","note":"Note/1"}"# + "\n" + #"{\#(note),"memos":["Memo/2","Memo/1","Memo/3","Memo/4"]}"#)
    }

    @Test func `a target with a to-one inverse or without an inverse is owned and copied`() throws {
        let fixture = try nodes(
            #"""
            {"_id":"Node/1","next":"Node/2","left":"Node/3","parts":["Node/4"],"children":["Node/5"]}
            {"_id":"Node/2"}
            {"_id":"Node/3"}
            {"_id":"Node/4"}
            {"_id":"Node/5"}
            """#)
        try fixture.clone(
            "Node/1",
            gives: #"""
                {"_id":"Node/6","next":"Node/7","left":"Node/8","parts":["Node/9"],"children":["Node/10"]}
                {"_id":"Node/7","previous":"Node/6"}
                {"_id":"Node/8"}
                {"_id":"Node/9"}
                {"_id":"Node/10","parent":"Node/6"}
                """#)
    }

    @Test func `each owner owns the members of a to-many without inverse, and other owners keep the originals`() throws {
        let fixture = try nodes(
            #"""
            {"_id":"Node/1","parts":["Node/3"]}
            {"_id":"Node/2","parts":["Node/3"]}
            {"_id":"Node/3"}
            """#)
        try fixture.clone("Node/1", gives: #"{"_id":"Node/4","parts":["Node/5"]}"# + "\n" + #"{"_id":"Node/5"}"#)
    }

    // MARK: The way back

    @Test func `only the traveled link is the way back if two links join the same objects`() throws {
        let schema = #""home": {"to": "Leaf", "inverse": "node"}, "leaves": {"to": "Leaf", "many": true, "inverse": "owner"}"#
        let back = #""node": {"to": "Node", "inverse": "home"}, "owner": {"to": "Node", "inverse": "leaves"}, "first": {"to": "Node"}"#
        let fixture = try CloneFixture(
            CloneModels.schema(node: schema, #""Leaf": { "relationships": {\#(back)} }"#),
            #"{"_id":"Node/1","name":"n","home":"Leaf/1","leaves":["Leaf/1","Leaf/2"]}"# + "\n" + #"{"_id":"Leaf/1","first":"Node/1"}"#
                + "\n"
                + #"{"_id":"Leaf/2","first":"Node/1"}"#)
        try fixture.clone(
            "Node/1",
            gives: #"""
                {"_id":"Node/2","name":"n","home":"Leaf/3","leaves":["Leaf/3","Leaf/4"]}
                {"_id":"Leaf/3","node":"Node/2","owner":"Node/2","first":"Node/2"}
                {"_id":"Leaf/4","owner":"Node/2","first":"Node/2"}
                """#)
    }

    @Test func `a tree is cloned at every level, even though parent and child have the same entity`() throws {
        let fixture = try nodes(
            #"""
            {"_id":"Node/1","name":"a"}
            {"_id":"Node/2","parent":"Node/1"}
            {"_id":"Node/3","parent":"Node/2"}
            {"_id":"Node/4","parent":"Node/3"}
            """#)
        try fixture.clone(
            "Node/1",
            gives: #"""
                {"_id":"Node/5","name":"a","children":["Node/6"]}
                {"_id":"Node/6","parent":"Node/5","children":["Node/7"]}
                {"_id":"Node/7","parent":"Node/6","children":["Node/8"]}
                {"_id":"Node/8","parent":"Node/7"}
                """#)
    }

    // MARK: Links between copied objects

    @Test func `a link between two copied objects joins their copies, even in a shared relationship`() throws {
        let fixture = try nodes(
            #"""
            {"_id":"Node/1","children":["Node/2","Node/3"]}
            {"_id":"Node/2","friends":["Node/3"],"next":"Node/3","right":"Node/1"}
            {"_id":"Node/3","follows":["Node/1","Node/2"]}
            """#)
        try fixture.clone(
            "Node/1",
            gives: #"""
                {"_id":"Node/4","children":["Node/5","Node/6"],"followers":["Node/6"]}
                {"_id":"Node/5","parent":"Node/4","friends":["Node/6"],"next":"Node/6","right":"Node/4","followers":["Node/6"]}
                {"_id":"Node/6","parent":"Node/4","friends":["Node/5"],"previous":"Node/5","follows":["Node/4","Node/5"]}
                """#)
    }

    @Test func `links of other objects to copied objects stay with the originals`() throws {
        let fixture = try nodes(
            #"""
            {"_id":"Node/1","name":"a"}
            {"_id":"Node/2","left":"Node/1","parts":["Node/1"]}
            """#)
        try fixture.clone("Node/1", gives: #"{"_id":"Node/3","name":"a"}"#)
    }

    // MARK: From the middle

    @Test func `a copy from the middle of a tree joins the same parent`() throws {
        let fixture = try levels()
        try fixture.clone(
            "Node/2", with: CloneRequest(excluding: ["friends"]),
            gives: #"""
                {"_id":"Node/5","parent":"Node/1","children":["Node/6"]}
                {"_id":"Node/6","parent":"Node/5","left":"Node/7"}
                {"_id":"Node/7","name":"other"}
                {"_id":"Node/1","children":["Node/2","Node/5"],"friends":["Node/4"]}
                """#)
    }

    @Test func `a copy from the middle of a tree has no parent if the upward link is excluded`() throws {
        let fixture = try nodes(
            #"""
            {"_id":"Node/1","children":["Node/2"]}
            {"_id":"Node/2","children":["Node/3"]}
            {"_id":"Node/3","name":"c"}
            """#)
        try fixture.clone(
            "Node/2", with: CloneRequest(excludedAtRoot: ["parent"]),
            gives: #"{"_id":"Node/4","children":["Node/5"]}"# + "\n" + #"{"_id":"Node/5","name":"c","parent":"Node/4"}"#)
        try fixture.clone(
            "Node/2", with: CloneRequest(excluding: ["parent"]),
            gives: #"{"_id":"Node/6","children":["Node/7"]}"# + "\n" + #"{"_id":"Node/7","name":"c","parent":"Node/6"}"#)
    }

    @Test func `the other side of a one-to-one is copied unless it is excluded`() throws {
        let fixture = try CloneFixture(
            CloneModels.notes,
            #"{"_id":"Note/1","name":"n","noteDescription":"NoteDescription/1"}"# + "\n" + #"{"_id":"NoteDescription/1"}"#)
        let note = #""createDate":"$now","id":"$new1","index":0,"name":"n","transient":true"#
        try fixture.clone(
            "NoteDescription/1",
            gives: #"{"_id":"NoteDescription/2","note":"Note/2"}"# + "\n"
                + #"{"_id":"Note/2",\#(note),"noteDescription":"NoteDescription/2"}"#)
        try fixture.clone("NoteDescription/1", with: CloneRequest(excluding: ["note"]), gives: #"{"_id":"NoteDescription/3"}"#)
    }

    // MARK: exclude

    @Test func `a relationship with the key exclude is not followed and is empty in the copy`() throws {
        let excluded = #""userInfo": {"exclude": "no"}"#
        let fixture = try CloneFixture(
            CloneModels.pair(#""many": true, "inverse": "node", \#(excluded)"#, back: #""inverse": "leaves""#),
            #"{"_id":"Node/1","name":"n","leaves":["Leaf/1"]}"# + "\n" + #"{"_id":"Leaf/1","name":"l"}"#)
        try fixture.clone("Node/1", gives: #"{"_id":"Node/2","name":"n"}"#)
        try fixture.clone(
            "Leaf/1",
            gives: #"{"_id":"Leaf/2","name":"l","node":"Node/1"}"# + "\n" + #"{"_id":"Node/1","name":"n","leaves":["Leaf/1","Leaf/2"]}"#)
    }

    @Test func `exclusions of a request hold at every level, and root exclusions only for the roots`() throws {
        let fixture = try levels()
        try fixture.clone(
            "Node/1", with: CloneRequest(excluding: ["friends", "Node.left"]),
            gives: #"""
                {"_id":"Node/5","children":["Node/6"]}
                {"_id":"Node/6","parent":"Node/5","children":["Node/7"]}
                {"_id":"Node/7","parent":"Node/6"}
                """#)
        try fixture.clone(
            "Node/1", with: CloneRequest(excluding: ["left"], excludedAtRoot: ["Node.friends"]),
            gives: #"""
                {"_id":"Node/8","children":["Node/9"]}
                {"_id":"Node/9","parent":"Node/8","children":["Node/10"],"friends":["Node/4"]}
                {"_id":"Node/10","parent":"Node/9"}
                {"_id":"Node/4","name":"other","friends":["Node/1","Node/2","Node/9"]}
                """#)
        try fixture.clone("Node/1", with: CloneRequest(excludedAtRoot: ["children", "friends"]), gives: #"{"_id":"Node/11"}"#)
    }

    @Test func `a name that is qualified by an entity concerns that entity and its sub-entities`() throws {
        let others = #""A": {"parent": "Node"}, "B": {"parent": "A"}"#
        let fixture = try CloneFixture(
            CloneModels.schema(node: #""left": {"to": "Node"}, "right": {"to": "Node"}"#, others),
            #"""
            {"_id":"Node/1","left":"A/2","right":"B/3"}
            {"_id":"A/2","left":"Node/4"}
            {"_id":"B/3","left":"Node/4"}
            {"_id":"Node/4","name":"x"}
            """#)
        try fixture.clone(
            "Node/1", with: CloneRequest(excluding: ["A.left"]),
            gives: #"""
                {"_id":"Node/5","left":"A/6","right":"B/7"}
                {"_id":"A/6"}
                {"_id":"B/7"}
                """#)
        try fixture.clone(
            "Node/1", with: CloneRequest(excluding: ["B.left"]),
            gives: #"""
                {"_id":"Node/8","left":"A/9","right":"B/10"}
                {"_id":"A/9","left":"Node/11"}
                {"_id":"B/10"}
                {"_id":"Node/11","name":"x"}
                """#)
    }
}

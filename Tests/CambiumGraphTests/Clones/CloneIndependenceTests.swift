import Cambium
import CambiumModel
import CambiumTesting
import TestFixtures
import Testing

/// A clone and its original have nothing in common except shared objects.
@Suite struct `Independence of clones` {
    /// An object with a member in each kind of relationship, and its clone.
    private struct Pair {
        let fixture: CloneFixture
        let clone: Clone

        static let kinds = ["one", "back", "many", "list", "single", "parts", "row", "shared", "sharedList", "peers"]

        init() throws {
            let relationships = #"""
                "one": {"to": "Leaf", "inverse": "a"}, "back": {"to": "Leaf", "inverse": "b"},
                "many": {"to": "Leaf", "many": true, "inverse": "c", "onDelete": "cascade"},
                "list": {"to": "Leaf", "many": true, "ordered": true, "inverse": "d"},
                "single": {"to": "Leaf", "onDelete": "cascade"}, "parts": {"to": "Leaf", "many": true},
                "row": {"to": "Leaf", "many": true, "ordered": true},
                "shared": {"to": "Leaf", "many": true, "inverse": "e"},
                "sharedList": {"to": "Leaf", "many": true, "ordered": true, "inverse": "f"},
                "peers": {"to": "Node", "many": true, "inverse": "peers"}, "owner": {"to": "Node", "inverse": "owned"},
                "owned": {"to": "Node", "many": true, "inverse": "owner"}
                """#
            let back = #"""
                "a": {"to": "Node", "inverse": "one"}, "b": {"to": "Node", "inverse": "back"}, "c": {"to": "Node", "inverse": "many"},
                "d": {"to": "Node", "inverse": "list"}, "e": {"to": "Node", "many": true, "inverse": "shared"},
                "f": {"to": "Node", "many": true, "ordered": true, "inverse": "sharedList"}
                """#
            let leaf = #""Leaf": {"attributes": {"name": {"type": "string", "optional": true}}, "relationships": {\#(back)}}"#
            let leaves = (1...20).map { #"{"_id":"Leaf/\#($0)","name":"l\#($0)"}"# }.joined(separator: "\n")
            fixture = try CloneFixture(
                CloneModels.schema(node: relationships, leaf),
                #"""
                {"_id":"Node/1","name":"a","one":"Leaf/1","back":"Leaf/2","many":["Leaf/3","Leaf/4"],"list":["Leaf/6","Leaf/5"],\#
                "single":"Leaf/7","parts":["Leaf/8","Leaf/9"],"row":["Leaf/11","Leaf/10"],"shared":["Leaf/12","Leaf/13"],\#
                "sharedList":["Leaf/15","Leaf/14"],"peers":["Node/2","Node/3"],"owned":["Node/3"]}
                {"_id":"Node/2","name":"b"}
                {"_id":"Node/3","name":"c"}
                """# + "\n" + leaves)
            let node = try fixture.id("Node/1")
            clone = try fixture.store.write { try $0.clone(node) }.result
        }

        func write(_ change: (inout WriteTransaction) throws -> Void) throws {
            try fixture.store.write { try change(&$0) }
            try fixture.expectSound()
        }

        /// Returns the lines of the copies or of their originals.
        func side(copies: Bool) throws -> [String] {
            let graph = fixture.store.graph
            return try CloneLine.all(of: graph).filter { line in
                let id = try fixture.id(line.key)
                return copies ? graph.source(of: id) != nil : clone.map.copy(of: id) != nil
            }.map(\.value).sorted()
        }

        func members(_ relationship: String, of id: ObjectID) throws -> [ObjectID] {
            try #require(fixture.store.graph.members(fixture.store.schema.required("Node").requiredRelationship(relationship), of: id))
        }
    }

    /// The changes that a test makes to a node and to one of its members.
    private static let changes = ["set", "unlink", "link another", "take over", "move", "delete the member", "delete the node"]

    /// Each kind of relationship with each change. A fast test has one change for each kind, and all changes.
    private static let cases: [(String, String)] = Pair.kinds.indices.flatMap { number in
        let numbers = LongTests.areWanted ? Array(changes.indices) : [(number + 1) % changes.count]
        return numbers.map { (Pair.kinds[number], changes[$0]) }
    }

    private func change(
        _ word: String, _ kind: String, of node: ObjectID, _ member: ObjectID, _ other: ObjectID, _ transaction: inout WriteTransaction
    )
        throws
    {
        switch word {
        case "set":
            try transaction.set(node, "name", to: .string("changed"))
            try transaction.set(member, "name", to: .null)
        case "unlink": try transaction.unlink(node, kind, member)
        case "link another": try transaction.link(node, kind, other)
        case "take over": try transaction.link(other.root == node.root ? other : transaction.insert("Node"), kind, member)
        case "move": if ["list", "row", "sharedList"].contains(kind) { try transaction.move(node, kind, member, to: 1) }
        case "delete the member": try transaction.delete(member)
        default: try transaction.delete(node)
        }
    }

    @Test(arguments: cases)
    func `no change to the original touches the clone`(kind: String, word: String) throws {
        let pair = try Pair()
        let isShared = ["shared", "sharedList", "peers"].contains(kind)
        let node = try pair.fixture.id("Node/1")
        let other = try pair.fixture.id(kind == "peers" ? "Node/2" : "Leaf/20")
        let before = (lines: try pair.side(copies: true), members: try pair.members(kind, of: pair.clone.root))
        let member = try #require(try pair.members(kind, of: node).first { !isShared || pair.clone.map.copy(of: $0) == nil })
        try pair.write { try change(word, kind, of: node, member, other, &$0) }
        if isShared, word == "delete the member" {
            #expect(try pair.members(kind, of: pair.clone.root) == before.members.filter { $0 != member })
        } else {
            #expect(try pair.side(copies: true) == before.lines)
        }
    }

    @Test(arguments: cases)
    func `no change to the clone touches the original`(kind: String, word: String) throws {
        let pair = try Pair()
        let isShared = ["shared", "sharedList", "peers"].contains(kind)
        let original = try pair.fixture.id("Node/1")
        let other = try pair.fixture.id(kind == "peers" ? "Node/2" : "Leaf/20")
        let member = try #require(
            try pair.members(kind, of: pair.clone.root).first { !isShared || pair.fixture.store.graph.source(of: $0) == nil })
        let before = (lines: try pair.side(copies: false), members: try pair.members(kind, of: original))
        try pair.write { try change(word, kind, of: pair.clone.root, member, other, &$0) }
        if isShared, word == "delete the member" {
            #expect(try pair.members(kind, of: original) == before.members.filter { $0 != member })
        } else {
            #expect(try pair.side(copies: false) == before.lines)
        }
    }

    @Test func `an original and its clone can be deleted in either order without loss to the other`() throws {
        for first in [true, false] {
            let pair = try Pair()
            let roots = [try pair.fixture.id("Node/1"), pair.clone.root]
            let kept = try pair.side(copies: first)
            try pair.write { try $0.delete(roots[first ? 0 : 1]) }
            #expect(try pair.side(copies: first) == kept)
            try pair.write { try $0.delete(roots[first ? 1 : 0]) }
            #expect(!pair.fixture.store.graph.contains(roots[0]) && !pair.fixture.store.graph.contains(roots[1]))
        }
    }

    @Test func `the graph before a clone never shows the copy, and the graph after it shows no later change`() throws {
        let fixture = try CloneFixture(CloneModels.notes, CloneModels.wholeNote)
        let before = fixture.store.graph
        let exportBefore = before.export
        let note = try fixture.id("Note/1")
        let (clone, receipt) = try fixture.store.write { try $0.clone(note) }
        let exportAfter = receipt.graph.export
        try fixture.store.write { try $0.delete(note) }
        try fixture.store.write { try $0.set(clone.root, "name", to: .string("changed")) }
        #expect(before.export == exportBefore && receipt.graph.export == exportAfter)
        #expect(exportAfter != exportBefore && receipt.graph.objectCount == before.objectCount + clone.map.count)
    }
}

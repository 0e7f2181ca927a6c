import Cambium
import CambiumModel
import TestFixtures
import Testing

/// Records whose identity contains a to-one relationship.
@Suite struct RecordOwnerTests {
    struct Project: BlankRecord {
        static let recordSchema = RecordSchema<Project>("Project") {
            RecordProperty("key", \.key, .identity)
            RecordProperty("issues", \.issues, .inverse("project"))
        }
        var key = ""
        var issues: [Issue] = []
        var ref: Ref<Project>?
        init() {}
        init(_ key: String, _ issues: [Issue] = []) { (self.key, self.issues) = (key, issues) }
    }

    /// An issue inside of its project.
    struct Issue: BlankRecord {
        static let recordSchema = RecordSchema<Issue>("Issue") {
            RecordProperty("number", \.number, .identity)
            RecordProperty("title", \.title)
        }
        var number = 0
        var title = ""
        var ref: Ref<Issue>?
        init() {}
        init(_ number: Int, _ title: String = "") { (self.number, self.title) = (number, title) }
    }

    /// The same entity with a reference to the project.
    struct Ticket: BlankRecord {
        static let recordSchema = RecordSchema<Ticket>("Issue") {
            RecordProperty("project", \.project, .identity)
            RecordProperty("number", \.number, .identity)
            RecordProperty("title", \.title)
        }
        var project: Ref<Project>?
        var number = 0
        var title = ""
        var ref: Ref<Ticket>?
        init() {}
        init(_ project: Ref<Project>?, _ number: Int, _ title: String) {
            (self.project, self.number, self.title) = (project, number, title)
        }
    }

    /// A record that contains a record of its owner.
    struct Comment: EntityRecord {
        static let recordSchema = RecordSchema<Comment>("Comment") {
            RecordProperty("ticket", \.ticket, .identity)
            RecordProperty("n", \.n, .identity)
        }
        var ticket: Ticket
        var n: Int
        var ref: Ref<Comment>?
        init(_ ticket: Ticket, _ n: Int) { (self.ticket, self.n) = (ticket, n) }
        init(from row: inout RecordReader) throws {
            (ticket, n) = (try row.read("ticket"), try row.read("n"))
            ref = row.ref()
        }
    }

    private static func store() throws -> Store {
        try Store.inMemory(schema: try Schema(of: Ticket.self, Project.self, Issue.self, Comment.self))
    }

    @Test func `records declare the identity in the order of their properties`() throws {
        let schema = try Self.store().schema
        #expect(schema.entity("Issue")?.identity.map(\.name) == ["project", "number"])
        #expect(schema.entity("Comment")?.identityValues.map(\.name) == ["ticket.project.key", "ticket.number", "n"])
    }

    @Test func `a save finds the object by a ref, by a record of the owner, and by the owner that contains it`() throws {
        let store = try Self.store()
        var projects = [Project("A", [Issue(1, "x"), Issue(2)]), Project("B", [Issue(1)])]
        try store.write { try $0.save(&projects) }
        var again = Project("A", [Issue(1, "y"), Issue(2)])
        var ticket = Ticket(projects[1].ref, 1, "z")
        var comment = Comment(Ticket(projects[0].ref, 2, "w"), 1)
        for _ in 0..<2 {
            try store.write { transaction in
                try transaction.save(&again)
                try transaction.save(&ticket)
                try transaction.save(&comment)
            }
            (again.ref, ticket.ref, comment.ref, comment.ticket.ref) = (nil, nil, nil, nil)
            for index in again.issues.indices { again.issues[index].ref = nil }
        }
        #expect(try store.graph.count(of: "Issue") == 3 && store.graph.count(of: "Comment") == 1 && store.graph.count(of: "Project") == 2)
        #expect(try store.graph.find(Ticket.self, identity: "A", 1)?.title == "y")
        #expect(try store.graph.find(Ticket.self, identity: "B", 1)?.title == "z")
        #expect(try store.graph.find(Comment.self, identity: "A", 2, 1)?.ticket.title == "w")
    }

    @Test func `an insertion refuses an identity that exists, and a record of a new owner is always new`() throws {
        let store = try Self.store()
        var project = Project("A", [Issue(1)])
        try store.write { try $0.save(&project) }
        var ticket = Ticket(project.ref, 1, "x")
        #expect(code { try store.write { try $0.insert(&ticket) } } == .conflict)
        var other = Comment(Ticket(nil, 1, "x"), 1)
        try store.write { try $0.save(&other) }
        #expect(try store.graph.count(of: "Issue") == 2)
    }

    @Test func `an edit saves records by owners that it inserted`() throws {
        let store = try Self.store()
        var edit = store.edit()
        var project = Project("A", [Issue(1)])
        try edit.save(&project)
        var ticket = Ticket(project.ref, 1, "x")
        try edit.save(&ticket)
        #expect(try edit.find(Ticket.self, identity: "A", 1)?.title == "x")
        try store.commit(&edit)
        #expect(try store.graph.count(of: "Issue") == 1)
    }

    @Test func `an option of the identity at several objects is refused`() throws {
        struct Bad: EntityRecord {
            static let recordSchema = RecordSchema<Bad>("Bad") { RecordProperty("all", \.all, .identity) }
            var all: [Project] = []
            var ref: Ref<Bad>?
            init(from row: inout RecordReader) throws { all = try row.read("all") }
        }
        #expect { _ = try Schema(of: Bad.self, Project.self, Ticket.self) } throws: { error in
            "\(error)".contains("several objects") || (error as? CambiumError)?.details.joined().contains("several objects") == true
        }
    }
}

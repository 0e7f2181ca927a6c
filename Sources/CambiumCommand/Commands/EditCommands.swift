import ArgumentParser
import Cambium
import CambiumJSON

struct EditOptions: ParsableArguments {
    @OptionGroup(title: "Author and request") var author: AuthorOptions
    @OptionGroup(title: "Lock") var writer: WriterOptions
    @OptionGroup(title: "Output") var output: OutputOptions
}

/// Runs the transaction of a command that changes single objects, such as `insert` or `set`.
struct Edit {
    private let store: String
    private let options: EditOptions
    private let author: Author
    /// The ids of the objects that the command changes, as written in its arguments. Empty if the command inserts an object.
    private let subjects: [String]

    init(_ command: String, _ store: String, _ options: EditOptions, _ arguments: [String], subjects: [String] = []) {
        (self.store, self.options, self.subjects) = (store, options, subjects)
        author = options.author.author(of: [command] + arguments)
    }

    /// Runs a transaction and prints its receipt. `body` returns the objects that the transaction changes.
    func run(_ body: (inout WriteTransaction, Schema, Graph) throws -> [ObjectID]) throws {
        do {
            let (ids, receipt, before) = try options.writer.open(store).use { store in
                let before = store.graph
                let (ids, receipt) = try store.write(author) { try body(&$0, $0.schema, before) }
                Terminal.report(committed: receipt.transaction)
                return (ids, receipt, before)
            }
            print(receipt, ids, before: before)
        } catch {
            guard let repeated = error.repeatedRequest else { throw error }
            try Repetition(store, repeated, subjects: subjects).print(json: options.output.json)
        }
    }

    /// Runs a transaction that changes one object, and prints its receipt.
    func run(on subject: String, _ body: (inout WriteTransaction, ObjectID, Entity, Graph) throws -> Void) throws {
        try run { transaction, schema, graph in
            let (place, entity) = try schema.object(subject, in: graph)
            try body(&transaction, graph.id(of: place), entity, graph)
            return [graph.id(of: place)]
        }
    }

    /// - Parameter before: The graph before the transaction, from which the entities of deleted objects are read.
    private func print(_ receipt: Receipt, _ ids: [ObjectID], before: Graph) {
        let texts = ids.map { (receipt.graph.contains($0) ? receipt.graph : before).text(of: $0) }
        let reached = Deletion.reachedCount(from: before, to: receipt.graph, ids.count)
        let text = texts.joined(separator: ", ") + Deletion.text(reached)
        if options.output.json {
            Terminal.printObject { writer in
                writer.member("transaction", receipt.transaction)
                writer.ids(texts)
                writer.cascaded(reached)
            }
        } else if let number = receipt.transaction {
            let effect = "in transaction \(number), \(Readable.of(receipt.logByteCount, "byte")) of log"
            Terminal.print(receipt.hasChanges ? "\(text) \(effect)" : "\(text): nothing changed; transaction \(number) records the request")
        } else {
            Terminal.print("\(text): nothing changed")
        }
    }
}

struct InsertCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "insert", abstract: "Insert an object.",
        discussion: Discussion.text(
            "\(AssignmentArgument.rules) "
                + "relationship=id,id links the new object to others. The JSON of a relationship is an id, an array of ids, or null.",
            examples: "cambium insert notes Note id=1 title=Paris --actor jane", "cambium insert notes Item name:=null note=Note/1"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @Argument(help: "The entity of the new object.", completion: .custom(NameCompletion.entities)) var entity: String
    @Argument(help: "The attributes and links to set: key=text, key:=JSON, or relationship=id,id.")
    var assignments: [AssignmentArgument] = []
    @OptionGroup var options: EditOptions

    func validate() throws { try assignments.checkNames() }

    func run() throws {
        try Edit("insert", store, options, [entity] + assignments.map(\.argument)).run { transaction, schema, graph in
            let entity = try schema.required(self.entity)
            let attributes = assignments.filter { entity.relationship($0.name) == nil }
            let id = try transaction.insert(entity, try attributes.map { try $0.resolved(entity) })
            for assignment in assignments {
                guard let relationship = entity.relationship(assignment.name) else { continue }
                for target in try assignment.targets(relationship, in: graph) { try transaction.link(id, relationship, target) }
            }
            return [id]
        }
    }
}

struct SetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change attributes of an object.",
        discussion: Discussion.text(
            AssignmentArgument.rules,
            examples: "cambium set notes Note/1 title=Lyon --message spelling", "cambium set notes Note/1 when:=null"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @Argument(help: "The object: \(ObjectIdentity.forms).") var id: String
    @Argument(help: "The attributes to set: key=text, or key:=JSON.") var assignments: [AssignmentArgument]
    @OptionGroup var options: EditOptions

    func validate() throws { try assignments.checkNames() }

    func run() throws {
        try Edit("set", store, options, [id] + assignments.map(\.argument), subjects: [id]).run(on: id) {
            transaction, id, entity, _ in
            try transaction.set(id, try assignments.map { try $0.resolved(entity) })
        }
    }
}

struct LinkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link", abstract: "Link an object to others.",
        discussion: Discussion.text(examples: "cambium link notes Note/1 items Item/1 Item/2"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @Argument(help: "The object: \(ObjectIdentity.forms).") var id: String
    @Argument(help: "The relationship.", completion: .custom(NameCompletion.relationships)) var relationship: String
    @Argument(help: "The objects to link it to.") var targets: [String]
    @OptionGroup var options: EditOptions

    func run() throws {
        try Edit("link", store, options, [id, relationship] + targets, subjects: [id]).run(on: id) {
            transaction, id, entity, graph in
            let relationship = try entity.linkedRelationship(self.relationship)
            if !relationship.isToMany, targets.count > 1 {
                let message = "'\(relationship.name)' leads to one object, but \(targets.count) are given. Name one object."
                throw CambiumError(.unknownName, message)
            }
            for target in targets { try transaction.link(id, relationship, graph.object(target)) }
        }
    }
}

struct UnlinkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlink", abstract: "Remove links of an object.",
        discussion: Discussion.text(examples: "cambium unlink notes Note/1 items Item/2"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @Argument(help: "The object: \(ObjectIdentity.forms).") var id: String
    @Argument(help: "The relationship.", completion: .custom(NameCompletion.relationships)) var relationship: String
    @Argument(help: "The objects to unlink it from.") var targets: [String]
    @OptionGroup var options: EditOptions

    func run() throws {
        try Edit("unlink", store, options, [id, relationship] + targets, subjects: [id]).run(on: id) {
            transaction, id, entity, graph in
            let relationship = try entity.linkedRelationship(self.relationship)
            for target in targets { try transaction.unlink(id, relationship, graph.object(target)) }
        }
    }
}

struct MoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move", abstract: "Move a member of an ordered relationship.",
        discussion: Discussion.text(examples: "cambium move notes Note/1 memos Memo/3 --to 0"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @Argument(help: "The object: \(ObjectIdentity.forms).") var id: String
    @Argument(help: "The ordered relationship.", completion: .custom(NameCompletion.relationships)) var relationship: String
    @Argument(help: "The member.") var target: String
    @Option(
        parsing: .unconditional,  // Accepts a minus sign, so that an error can state the negative index.
        help: .init("Move the member to this index, counted from 0.", valueName: "index"))
    var to: Int
    @OptionGroup var options: EditOptions

    func run() throws {
        try Edit("move", store, options, [id, relationship, target, String(to)], subjects: [id]).run(on: id) {
            transaction, id, entity, graph in
            let relationship = try entity.linkedRelationship(self.relationship)
            try transaction.move(id, relationship, graph.object(target), to: to)
        }
    }
}

struct DeleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete objects, and the objects that their delete rules reach.",
        discussion: Discussion.text(
            "The output states the number of other objects that were deleted, with --json as the key 'cascaded' if there were any.",
            examples: "cambium delete notes Note/1 Note/2 --message obsolete"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @Argument(help: "The objects to delete. Each is \(ObjectIdentity.forms).") var ids: [String]
    @OptionGroup var options: EditOptions

    func run() throws {
        try Edit("delete", store, options, ids, subjects: ids).run { transaction, _, graph in
            var seen: Set<ObjectID> = []
            let objects = try ids.map { try graph.object($0) }.filter { seen.insert($0).inserted }
            try transaction.delete(objects)
            return objects
        }
    }
}

import ArgumentParser
import Cambium
import CambiumJSON

struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Show every change of an object, newest first, with its author and the value before it.",
        discussion: Discussion.text(
            "Without an object, the history contains the changes of all objects, of the schema and of labels that the options select. "
                + "The history of an object crosses its deletion, and continues with the source of the clone that made it. A deleted "
                + "object is found by its id, or by the identity that it had. With --where, an object satisfies the condition before or "
                + "after the transaction. If a compaction has retired earlier changes, the last row states this.",
            examples: "cambium history notes Note/1", "cambium history notes Note:7 --attribute title --limit 1",
            "cambium history notes --entity Item --where 'price > 10' --from 2026-03-01",
            "cambium history notes --entity Item --change deleted --actor jane",
            "cambium history notes Note/1 --complete --json"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @Argument(help: "The object: \(ObjectIdentity.forms). All objects by default.") var id: String?
    @OptionGroup(title: "Selection") var selection: HistoryOptions
    @OptionGroup(title: "Condition") var filter: FilterOptions
    @OptionGroup(title: "Range") var range: AuditRange
    // The parser accepts a minus sign, so that an error can state the negative number.
    @Option(parsing: .unconditional, help: .init("Show at most this many rows.", valueName: "count")) var limit: Int?
    @Flag(help: "Compare the history with the differences of all transactions, and state whether it has a gap.") var complete = false
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is \(limit), but must be at least 0.") }
        if complete, limit != nil {
            throw ValidationError("--complete states whether the whole history has a gap, and --limit cuts the history. Omit one.")
        }
    }

    func run() throws {
        let trail = AuditTrail(of: store)
        let bounds = try range.bounds(in: trail)
        var selected = try selection.selection(trail, through: bounds.last)
        (selected.first, selected.last) = (bounds.first, bounds.last)
        selected.condition = filter.where
        selected.arguments = try filter.set.operands()
        if let id { selected.object = try trail.object(named: id, through: bounds.last) }
        let kinds = Set(selection.change)
        let rows = HistoryText(isJSON: output.json)
        var count = 0
        if limit != 0 {
            try QueryRequest.named("--where") {
                try trail.history(selected) { entry in
                    if let kind = ChangeKind(entry.change), !kinds.isEmpty, !kinds.contains(kind) { return true }
                    rows.print(entry)
                    count += 1
                    return count < limit ?? .max
                }
            }
        }
        if count == 0, limit != 0, !output.json { Terminal.print("No change of the store is in this history.") }
        if complete { try printCheck(trail, selected) }
    }

    private func printCheck(_ trail: AuditTrail, _ selection: HistorySelection) throws {
        let check: HistoryCheck
        if let object = selection.object {
            check = try trail.checkHistory(of: object, from: selection.first, through: selection.last)
        } else {
            // A history of many objects is itself the comparison of all transactions.
            let first = try max(selection.first ?? AuditRange.first, trail.oldest())
            check = HistoryCheck(first: first, last: try selection.last ?? trail.newest(), gaps: [])
        }
        if output.json {
            Terminal.printObject { writer in
                writer.member("complete", check.isComplete)
                writer.member("from", check.first)
                writer.member("to", check.last)
                writer.member("method", "scan")
                writer.array("gaps", check.gaps) { writer, gap in writer.number(gap.rawValue) }
            }
        } else if check.first > check.last {
            Terminal.print("There is no transaction to compare: the changes of all transactions up to \(check.last) were retired.")
        } else if check.isComplete {
            Terminal.print("Complete: these are all changes that the options select, from transaction \(check.first) to \(check.last).")
        } else {
            let list = check.gaps.map(\.description).joined(separator: ", ")
            Terminal.print("INCOMPLETE: the history differs from the store in the transactions \(list). Run 'cambium verify'.")
        }
        if !check.isComplete { throw ExitCode(Failure.badNews) }
    }
}

/// A kind of change, as `history --change` names it.
enum ChangeKind: String, ExpressibleByArgument, CaseIterable {
    case inserted, deleted, changed, schema, label

    /// Creates the kind of a change. Returns `nil` for the end of a history at a compaction, which every history shows.
    init?(_ change: HistoryEntry.Change) {
        switch change {
        case .inserted, .cloned: self = .inserted
        case .deleted: self = .deleted
        case .attribute, .relationship, .stub, .renamed: self = .changed
        case .schema: self = .schema
        case .label: self = .label
        case .retired: return nil
        }
    }
}

/// The options that select the changes in a history.
struct HistoryOptions: ParsableArguments {
    @Option(
        help: .init("Show only objects of this entity and of its sub-entities.", valueName: "name"),
        completion: .custom(NameCompletion.entities))
    var entity: String?
    @Option(
        help: .init("Show only changes of this attribute. Repeat the option for each.", valueName: "name"),
        completion: .custom(NameCompletion.attributes))
    var attribute: [String] = []
    @Option(
        help: .init("Show only changes of this relationship. Repeat the option for each.", valueName: "name"),
        completion: .custom(NameCompletion.relationships))
    var relationship: [String] = []
    @Option(help: .init("Show only changes of this kind. Repeat the option for each. A copy is inserted.", valueName: "kind"))
    var change: [ChangeKind] = []
    @Option(help: .init("Show only transactions of this actor.", valueName: "name")) var actor: String?
    @Option(help: .init("Show only the transaction with this request key.", valueName: "key")) var request: String?

    /// Throws `.unknownName` if no schema of the store has a name.
    func selection(_ trail: AuditTrail, through last: TransactionNumber?) throws -> HistorySelection {
        var selection = HistorySelection(entity: entity, actor: actor)
        selection.requestID = request
        selection.properties = attribute + relationship
        if selection.properties.isEmpty { return selection }
        let newest = try trail.graph(at: last.map { .transaction($0) } ?? .latest).schema
        var former: [Schema]?
        func has(_ schema: Schema, _ name: String) -> Bool {
            schema.entities.contains { $0.attribute(name) != nil || $0.relationship(name) != nil }
        }
        for name in selection.properties where !has(newest, name) {
            let schemas = try former ?? trail.formerSchemas()
            former = schemas
            let ownName = name.hasSuffix(HistoryRows.removed) ? String(name.dropLast(HistoryRows.removed.count)) : name
            if schemas.contains(where: { has($0, ownName) }) { continue }
            throw CambiumError(
                .unknownName, "No schema of the store has the property '\(Excerpt.plain(name))'. 'cambium schema' lists the properties.")
        }
        return selection
    }
}

extension AuditTrail {
    /// Returns the id of an object that exists, or that existed earlier. The text is an id or an identity.
    ///
    /// Throws `.notFound` if no object of the history had this identity, and `.unknownName` if no schema had the entity.
    func object(named text: String, through last: TransactionNumber?) throws -> ObjectID {
        let graph = try graph(at: last.map { .transaction($0) } ?? .latest)
        let schema = graph.schema
        if let identity = try? ObjectIdentity(parsing: text, schema) {
            do throws(CambiumError) {
                return graph.id(of: try identity.place(in: graph))
            } catch {
                guard error.code == .notFound else { throw error }
                let values = try identity.values()
                if let former = try formerObject(identity.entity, identity: values, through: last) { return former }
                if values.isEmpty { throw error }
                throw try missing(identity, through: graph.transaction)
            }
        }
        if let (id, _) = schema.id(text) {
            if graph.contains(id) || graph.hasAssigned(id) { return id }
            return graph.id(of: try schema.object(text, in: graph).place)
        }
        // A migration may have renamed or dropped the entity.
        for former in try formerSchemas() { if let (id, _) = former.id(text) { return id } }
        return try schema.parsedID(text).0
    }

    /// Returns the error for an identity that no object has or had.
    private func missing(_ identity: ObjectIdentity, through last: TransactionNumber) throws -> CambiumError {
        let oldest = try oldest()
        let retired = oldest > AuditRange.first ? " The changes before transaction \(oldest) were retired, so they cannot show one." : ""
        let (name, values) = (identity.entity.name, Excerpt.plain(identity.texts.joined(separator: ",")))
        return CambiumError(
            .notFound,
            "Up to transaction \(last), no '\(name)' has had the identity \(values). 'cambium find STORE \(name)' lists the objects that "
                + "exist.\(retired)")
    }
}

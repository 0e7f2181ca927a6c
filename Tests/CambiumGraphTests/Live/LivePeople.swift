import CambiumModel
import CambiumTesting

@testable import CambiumGraph

/// People in teams, and a live result of a query for people.
struct LivePeople {
    let timeline = Timeline()
    let schema: Schema
    private(set) var result: LiveResult
    private var person: Entity
    private var team: Entity

    /// Makes `count` people: the name of number 7 is "p07", its age is 7, and it is in team 1 + 7 % 4 of five teams.
    init(_ where: String? = nil, sort: String? = nil, limit: Int? = nil, sections: String? = nil, count: Int = 40) throws {
        schema = try Schema(
            SchemaDefinition {
                EntityDefinition("Person") {
                    AttributeDefinition("name", .string, .optional)
                    AttributeDefinition("age", .int64, .optional)
                    RelationshipDefinition("team", to: "Team", inverse: "members")
                }
                EntityDefinition("Team") {
                    AttributeDefinition("name", .string, .optional)
                    AttributeDefinition("city", .string, .optional)
                    RelationshipDefinition("members", to: "Person", .toMany, inverse: "team")
                }
            })
        (person, team) = (try schema.required("Person"), try schema.required("Team"))
        try ProgramRun.commit([.schema(schema.catalog)], to: timeline)
        var ops: [Op] = []
        for serial in 1...5 { ops.append(.insert(Self.id(team, serial), entity: team.number, [])) }
        for serial in 1...count { ops += try Self.insertion(serial, person, team) }
        try ProgramRun.commit(ops, to: timeline)
        let query = try Query("Person", where: `where`, sort: sort, limit: limit)
        result = try LiveResult(
            query, sections: try sections.map { key throws(CambiumError) in try SortKey(parsing: key) }, in: timeline.head)
        _ = try result.whole(in: timeline.head)
    }

    private static func id(_ entity: Entity, _ serial: Int) -> ObjectID { ObjectID(root: entity.root, serial: UInt64(serial)) }

    private static func insertion(_ serial: Int, _ person: Entity, _ team: Entity) throws -> [Op] {
        let values = [
            Assignment(try person.requiredAttribute("name").number, .string(serial < 10 ? "p0\(serial)" : "p\(serial)")),
            Assignment(try person.requiredAttribute("age").number, .int(Int64(serial))),
        ]
        let id = id(person, serial)
        return [
            .insert(id, entity: person.number, values),
            .link(id, try person.requiredRelationship("team").number, target: Self.id(team, 1 + serial % 4), index: nil),
        ]
    }

    // MARK: Transactions

    /// Commits ops, and advances the result. Returns the update, or `nil` if nothing has changed.
    @discardableResult
    mutating func commit(_ ops: [Op]) throws -> LiveUpdate? {
        let before = timeline.head
        try ProgramRun.commit(ops, to: timeline)
        return try result.advance([TouchedObjects(timeline.head.changes(since: before))], to: timeline.head)
    }

    /// Commits several transactions, and advances the result once.
    mutating func commit(together transactions: [[Op]]) throws -> LiveUpdate? {
        var touched: [TouchedObjects] = []
        for ops in transactions {
            let before = timeline.head
            try ProgramRun.commit(ops, to: timeline)
            touched.append(TouchedObjects(timeline.head.changes(since: before)))
        }
        return try result.advance(touched, to: timeline.head)
    }

    func insert(_ serial: Int) throws -> [Op] { try Self.insertion(serial, person, team) }

    func delete(_ serial: Int) -> Op { .delete([Self.id(person, serial)]) }

    func set(_ serial: Int, _ attribute: String, _ value: Value) throws -> Op {
        .set(Self.id(person, serial), [Assignment(try person.requiredAttribute(attribute).number, value)])
    }

    func setTeam(_ serial: Int, _ attribute: String, _ value: Value) throws -> Op {
        .set(Self.id(team, serial), [Assignment(try team.requiredAttribute(attribute).number, value)])
    }

    func move(_ serial: Int, toTeam other: Int) throws -> Op {
        .link(Self.id(person, serial), try person.requiredRelationship("team").number, target: Self.id(team, other), index: nil)
    }

    /// The people of the result.
    var serials: [UInt64] { result.ids.map(\.serial) }
}

extension LiveUpdate {
    /// The differences in one line: the serials with their indexes.
    var line: String {
        let parts =
            deleted.map { "-\($0.id.serial)@\($0.index)" } + inserted.map { "+\($0.id.serial)@\($0.index)" }
            + moved.map { ">\($0.id.serial)@\($0.from)-\($0.to)" } + updated.map { "~\($0.id.serial)@\($0.index)" }
        return parts.joined(separator: " ")
    }
}

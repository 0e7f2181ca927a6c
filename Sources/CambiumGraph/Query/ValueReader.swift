import CambiumModel

/// The kinds of values that can be compared with each other.
enum ValueKind: Hashable {
    case number, text, date, bool, uuid, data
    /// An object of the hierarchy of a root entity.
    case object(EntityNumber)

    init(_ type: AttributeType) {
        switch type {
        case .int16, .int32, .int64, .float, .double, .decimal: self = .number
        case .string, .uri, .json: self = .text
        case .date: self = .date
        case .bool: self = .bool
        case .uuid: self = .uuid
        case .data: self = .data
        }
    }

    /// The kind in words, for messages.
    var text: String {
        switch self {
        case .number: "a number"
        case .text: "a text"
        case .date: "a date"
        case .bool: "true or false"
        case .uuid: "a UUID"
        case .data: "data"
        case .object: "an object"
        }
    }
}

/// Reads the values of an operand for one object at a time.
class ValueReader {
    let kind: ValueKind

    init(kind: ValueKind) { self.kind = kind }

    /// Calls `body` with each value until it returns `false`. Returns whether `body` always returned `true`.
    func visit(_ row: UInt32, _ body: (QueryValue) -> Bool) -> Bool { body(.null) }

    /// The first value, or null.
    final func value(_ row: UInt32) -> QueryValue {
        var found = QueryValue.null
        _ = visit(row) { value in
            found = value
            return false
        }
        return found
    }
}

final class ConstantReader: ValueReader {
    private let constant: QueryValue

    init(_ constant: QueryValue, kind: ValueKind) {
        self.constant = constant
        super.init(kind: kind)
    }

    override func visit(_ row: UInt32, _ body: (QueryValue) -> Bool) -> Bool { body(constant) }
}

/// Reads the values at the end of a path. A path of to-one relationships has exactly one value, which may be null.
final class PathReader: ValueReader {
    let links: [LinkStep]
    private let end: ConditionBinder.PathEnd
    private let context: QueryContext
    let field: Field?
    private let table: TableLayout

    init(_ path: ConditionBinder.ResolvedPath, _ entity: Entity, _ context: QueryContext) {
        links = path.links
        end = path.end
        self.context = context
        table = path.links.last?.targetTable ?? context.layout.tables[context.layout.tableIndex(ofKnown: entity.root)]
        switch path.end {
        case .attribute(let attribute):
            field = context.layout.field(attribute)
            super.init(kind: ValueKind(attribute.type))
        case .object(let entity):
            field = nil
            super.init(kind: .object(entity.root))
        case .entityName:
            field = nil
            super.init(kind: .text)
        }
    }

    /// The type of the attribute at the end; `nil` if the path ends at an object.
    var type: AttributeType? { field?.type }

    override func visit(_ row: UInt32, _ body: (QueryValue) -> Bool) -> Bool { visit(row, 0) { body($0.map(read) ?? .null) } }

    /// Calls `body` with the row at the end of each path, or with `nil` if a to-one relationship on the path has no target.
    func visitRows(_ row: UInt32, _ body: (UInt32?) -> Bool) -> Bool { visit(row, 0, body) }

    /// The names of a path are limited, and so is the recursion.
    private func visit(_ row: UInt32, _ depth: Int, _ body: (UInt32?) -> Bool) -> Bool {
        if depth == links.count { return body(row) }
        let step = links[depth]
        if let slot = step.linkSlot, !step.isToMany {
            let target = context.reader.rows(step.ownerTable.index).link(row, slot)
            return target == noRow ? missing(depth + 1, body) : visit(target, depth + 1, body)
        }
        return context.reader.visitMembers(step.end, owner: row) { visit($0, depth + 1, body) }
    }

    /// A missing object has no members, and its values are null.
    private func missing(_ depth: Int, _ body: (UInt32?) -> Bool) -> Bool {
        links[depth...].contains(where: \.isToMany) ? true : body(nil)
    }

    func read(_ row: UInt32) -> QueryValue {
        let place = ObjectPlace(table: table.index, row: row)
        if let field { return .value(context.reader.value(of: field, at: place)) }
        if case .entityName = end {
            let number = context.reader.rows(table.index).entity(row, table)
            return .value(.string(context.layout.schema.entity(number)?.name ?? ""))
        }
        return .object(context.reader.id(place, context.layout))
    }
}

/// Reads a number that is computed from the objects at the end of a path.
final class AggregateReader: ValueReader {
    private let function: AggregateFunction
    private let path: PathReader
    private let value: PathReader?
    private let type: AttributeType?
    private let context: QueryContext

    init(_ function: AggregateFunction, _ path: PathReader, of value: PathReader?, _ context: QueryContext) {
        self.function = function
        self.path = path
        self.value = value
        type = value?.type
        self.context = context
        let kind: ValueKind = function == .min || function == .max ? value?.kind ?? .number : .number
        super.init(kind: kind)
    }

    override func visit(_ row: UInt32, _ body: (QueryValue) -> Bool) -> Bool {
        if let value { return body(.value(aggregate(row, value))) }
        if path.links.count == 1 { return body(.value(.int(Int64(context.reader.memberCount(path.links[0].end, owner: row))))) }
        var count: Int64 = 0
        _ = path.visitRows(row) { end in
            if end != nil { count += 1 }
            return true
        }
        return body(.value(.int(count)))
    }

    private func aggregate(_ row: UInt32, _ reader: PathReader) -> Value {
        var sum = Accumulator(function, of: type)
        _ = path.visitRows(row) { end in
            guard let end else { return true }
            return reader.visit(end) { value in
                sum.add(value)
                return true
            }
        }
        return sum.result
    }
}

import CambiumModel

/// Reads the values of an operand, such as a path or an aggregate, for one object at a time.
class ValueReader {
    let kind: ValueKind

    init(kind: ValueKind) { self.kind = kind }

    /// The type that an attribute with the values would have; `nil` if the values are objects, or may have several types.
    var type: AttributeType? { nil }

    /// Whether the values are names of entities.
    var isEntityName: Bool { false }

    /// Calls `body` with each value until `body` returns `false`. Returns whether `body` always returned `true`.
    func visit(_ row: UInt32, _ body: (QueryValue) -> Bool) -> Bool { body(.null) }

    /// Calls `body` with each value, and with the number of paths that lead to this value. A sum, for example, adds a value once for each
    /// path.
    func visitAll(_ row: UInt32, _ body: (QueryValue, Int128) -> Void) {
        _ = visit(row) { value in
            body(value, 1)
            return true
        }
    }

    /// Returns the first value of the operand, or null if the operand has no value.
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
    override var type: AttributeType? { field?.type }

    override var isEntityName: Bool { if case .entityName = end { true } else { false } }

    /// Calls `body` with the values at the end of the path. If several paths over two or more to-many relationships lead to the same
    /// object, its value is passed only once.
    override func visit(_ row: UInt32, _ body: (QueryValue) -> Bool) -> Bool {
        if links.count(where: \.isToMany) < 2 { return visitRows(row) { body($0.map(read) ?? .null) } }
        return ends(of: row).allSatisfy { body($0.row.map(read) ?? .null) }
    }

    override func visitAll(_ row: UInt32, _ body: (QueryValue, Int128) -> Void) {
        if links.count(where: \.isToMany) < 2 { return super.visitAll(row, body) }
        for (end, count) in ends(of: row) { body(end.map(read) ?? .null, count) }
    }

    /// Calls `body` with the row at the end of each path, or with `nil` if a to-one relationship on the path has no target.
    func visitRows(_ row: UInt32, _ body: (UInt32?) -> Bool) -> Bool { visit(row, 0, body) }

    /// Follows the rest of the path from a row. The recursion is limited, because the number of names in a path is limited.
    private func visit(_ row: UInt32, _ depth: Int, _ body: (UInt32?) -> Bool) -> Bool {
        if depth == links.count { return body(row) }
        let step = links[depth]
        if let slot = step.linkSlot, !step.isToMany {
            let target = context.reader.rows(step.ownerTable.index).link(row, slot)
            return target == noRow ? missing(depth + 1, body) : visit(target, depth + 1, body)
        }
        return context.reader.visitMembers(step.end, owner: row) { visit($0, depth + 1, body) }
    }

    /// Calls `body` as `visitRows` does, but in an order that does not depend on the order in which objects were linked: the members of an
    /// unordered relationship come by ascending id. Stops at an object with more than `memberCountMax` members, and returns `false`.
    func visitRowsInOrder(_ row: UInt32, memberCountMax: Int, _ body: (UInt32?) -> Bool) -> Bool {
        visitInOrder(row, 0, memberCountMax, body)
    }

    private func visitInOrder(_ row: UInt32, _ depth: Int, _ memberCountMax: Int, _ body: (UInt32?) -> Bool) -> Bool {
        if depth == links.count { return body(row) }
        // The members are counted before they are read, because all of them are in memory while they are sorted.
        if context.reader.memberCount(links[depth].end, owner: row) > memberCountMax { return false }
        let targets = orderedTargets(of: row, links[depth])
        if targets.isEmpty, !links[depth].isToMany { return missing(depth + 1, body) }
        return targets.allSatisfy { visitInOrder($0, depth + 1, memberCountMax, body) }
    }

    private func orderedTargets(of row: UInt32, _ step: LinkStep) -> [UInt32] {
        var targets: [UInt32] = []
        context.reader.forEachMember(step.end, owner: row) { targets.append($0) }
        if targets.count < 2 || step.end.orderedList != nil { return targets }
        let rows = context.reader.rows(step.targetTable.index)
        return targets.map { (serial: rows.serial($0), row: $0) }.sorted { $0.serial < $1.serial }.map(\.row)
    }

    /// Ends a path on which an object is missing. If a to-many relationship follows, the path leads to no value. Otherwise, the path has
    /// one value, which is null.
    private func missing(_ depth: Int, _ body: (UInt32?) -> Bool) -> Bool {
        links[depth...].contains(where: \.isToMany) ? true : body(nil)
    }

    /// Returns the rows at the end of all paths from a row, each with the number of paths to it, at most `Int128.max`. The row `nil` has
    /// the number of paths that end at a missing object.
    ///
    /// The rows are sorted, with `nil` first, because the order of a dictionary differs between processes.
    ///
    /// All paths are followed together, step by step. So the cost depends on the number of links that each step follows, not on the number
    /// of paths.
    func ends(of row: UInt32) -> [(row: UInt32?, pathCount: Int128)] {
        var level: [UInt32?: Int128] = [row: 1]
        for depth in links.indices {
            if context.checkCancellation() { return [] }
            level = next(level, depth)
        }
        return level.map { (row: $0.key, pathCount: $0.value) }.sorted { left, right in
            guard let second = right.row else { return false }
            return left.row.map { $0 < second } ?? true
        }
    }

    /// Returns the number of paths from a row, including paths that end before the last relationship. Returns `nil` if the number exceeds
    /// `countMax`.
    func pathCount(from row: UInt32, upTo countMax: Int) -> Int? {
        var level: [UInt32?: Int128] = [row: 1]
        var total = 0
        for depth in links.indices {
            // The members are counted before they are read, because an object may have many more than `countMax` members.
            var linkCount: Int128 = 0
            for case (let owner?, let count) in level {
                linkCount += count * Int128(context.reader.memberCount(links[depth].end, owner: owner))
            }
            if linkCount > Int128(countMax - total) { return nil }
            level = next(level, depth)
            for count in level.values {
                if count > Int128(countMax - total) { return nil }
                total += Int(count)
            }
        }
        return total
    }

    /// Follows one relationship of the path from all rows of `level`. `level` has the number of paths to each row, and the result has the
    /// number of paths to each row after the step.
    private func next(_ level: [UInt32?: Int128], _ depth: Int) -> [UInt32?: Int128] {
        let step = links[depth]
        var next: [UInt32?: Int128] = [:]
        for (owner, count) in level {
            guard let owner else {
                if !step.isToMany { next[nil] = count.saturatingSum(next[nil] ?? 0) }
                continue
            }
            var isMissing = true
            context.reader.forEachMember(step.end, owner: owner) { target in
                isMissing = false
                next[target] = count.saturatingSum(next[target] ?? 0)
            }
            if isMissing, !step.isToMany, !links[depth...].contains(where: \.isToMany) { next[nil] = count.saturatingSum(next[nil] ?? 0) }
        }
        return next
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

internal import CambiumJSON

extension ImportMapping {
    /// The mapping in its JSON form. Members that have their default or inherited value are omitted.
    var json: JSONValue {
        var members: [JSONValue.Member] = []
        if let entity { members.append(.init("entity", .string(entity))) }
        members += objects.members(inside: ObjectMapping())
        if !nested.isEmpty {
            let sorted = nested.sorted { $0.key < $1.key }
            members.append(.init("nested", .object(sorted.map { .init($0.key, .object($0.value.members(inside: objects))) })))
        }
        return .object(members)
    }
}

extension ObjectMapping {
    fileprivate func members(inside outer: ObjectMapping) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        if let identity { members.append(.init("identity", .array(identity.map(JSONValue.string)))) }
        if delimiter != outer.delimiter { members.append(.init("delimiter", .string(delimiter))) }
        if escape != outer.escape { members.append(.init("escape", .string(escape))) }
        for (key, properties) in [("attributes", attributes), ("relationships", relationships)] where !properties.isEmpty {
            members.append(.init(key, .object(properties.sorted { $0.key < $1.key }.map { .init($0.key, $0.value.json) })))
        }
        if let entityFrom {
            let map = entityFrom.map.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .string($0.value)) }
            let key = JSONValue.Member("key", .string(entityFrom.key))
            members.append(.init("entityFrom", .object(map.isEmpty ? [key] : [key, .init("map", .object(map))])))
        }
        return members
    }
}

extension PropertyMapping {
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = []
        switch source {
        case .name: break
        case .nothing: return .null
        case .path(let path): members.append(.init("from", .string(path)))
        case .coalesce(let paths): members.append(.init("coalesce", .array(paths.map(JSONValue.string))))
        case .join(let paths, let separator):
            members.append(.init("join", .array(paths.map(JSONValue.string))))
            if separator != Self.standardSeparator { members.append(.init("separator", .string(separator))) }
        case .constant(let value): members.append(.init("constant", value))
        }
        if !functions.isEmpty { members.append(.init("functions", .array(functions.map(\.json)))) }
        if !dates.isEmpty { members.append(.init("dates", .array(dates.map { .string($0.text) }))) }
        if zone != Self.standardZone { members.append(.init("zone", .string(zone))) }
        if pivot != Self.standardPivot { members.append(.init("pivot", .number(String(pivot)))) }
        if let numbers {
            var marks: [JSONValue.Member] = []
            if numbers.decimal != NumberFormat.standardDecimal { marks.append(.init("decimal", .string(numbers.decimal))) }
            if let grouping = numbers.grouping { marks.append(.init("grouping", .string(grouping))) }
            members.append(.init("numbers", .object(marks)))
        }
        return .object(members)
    }
}

package import CambiumJSON

extension SchemaDefinition {
    /// The schema in JSON, with the keys in a fixed order.
    package var json: JSONValue {
        .object([.init("entities", .object(entities.map { .init($0.name, $0.json(withNumbers: false)) }))])
    }

    /// The schema in JSON, with the assigned numbers.
    var catalogJSON: JSONValue {
        let entities = JSONValue.Member("entities", .object(entities.map { .init($0.name, $0.json(withNumbers: true)) }))
        return .object([entities] + (nextNumber.map { [.init("nextNumber", .number(String($0)))] } ?? []))
    }
}

/// The members of a JSON object that is being written. Members with default values are omitted.
private struct Members {
    private(set) var all: [JSONValue.Member] = []

    mutating func add(_ key: String, _ text: String?) { if let text { all.append(.init(key, .string(text))) } }
    mutating func add(_ key: String, _ value: JSONValue?) { if let value { all.append(.init(key, value)) } }
    mutating func add(_ key: String, _ count: Int?) { if let count { all.append(.init(key, .number(String(count)))) } }
    mutating func add(_ key: String, ifTrue flag: Bool) { if flag { all.append(.init(key, .bool(true))) } }
    mutating func add(_ key: String, _ list: [String]) {
        if !list.isEmpty { all.append(.init(key, .array(list.map { .string($0) }))) }
    }
    mutating func add(_ key: String, _ lists: [[String]]) {
        if !lists.isEmpty { all.append(.init(key, .array(lists.map { .array($0.map { .string($0) }) }))) }
    }
    mutating func add(_ key: String, _ map: [String: String]) {
        if map.isEmpty { return }
        let sorted = map.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        all.append(.init(key, .object(sorted.map { .init($0.key, .string($0.value)) })))
    }
    mutating func add(_ key: String, _ members: [JSONValue.Member]) {
        if !members.isEmpty { all.append(.init(key, .object(members))) }
    }
}

extension EntityDefinition {
    func json(withNumbers: Bool) -> JSONValue {
        var members = Members()
        if withNumbers {
            members.add("number", number.map { Int($0) })
            members.add("nextNumber", nextNumber)
        }
        members.add("parent", parent)
        members.add("abstract", ifTrue: isAbstract)
        members.add("identity", identity)
        members.add("attributes", attributes.map { .init($0.name, $0.json(withNumbers: withNumbers)) })
        members.add("relationships", relationships.map { .init($0.name, $0.json(withNumbers: withNumbers)) })
        members.add("unique", unique)
        members.add("indexes", indexes)
        members.add("queries", queries.map { .init($0.name, $0.json) })
        members.add("userInfo", userInfo)
        members.add("renamedFrom", formerName)
        return .object(members.all)
    }
}

extension QueryDefinition {
    var json: JSONValue {
        var members = Members()
        members.add("of", target)
        members.add("where", condition)
        members.add("sort", sort)
        members.add("limit", limit)
        return .object(members.all)
    }
}

extension AttributeDefinition {
    func json(withNumbers: Bool) -> JSONValue {
        var members = Members()
        if withNumbers { members.add("number", number.map { Int($0) }) }
        members.add("type", type.rawValue)
        members.add("optional", ifTrue: presence == .optional)
        members.add("default", defaultValue)
        members.add("min", min)
        members.add("max", max)
        members.add("minLength", minLength)
        members.add("maxLength", maxLength)
        members.add("regex", regex)
        members.add("enum", allowed.map { .array($0) })
        members.add("transient", ifTrue: isTransient)
        members.add("derived", derivation.map { .object([.init($0.key, .string($0.path))]) })
        members.add("userInfo", userInfo)
        members.add("renamedFrom", formerName)
        return .object(members.all)
    }
}

extension RelationshipDefinition {
    func json(withNumbers: Bool) -> JSONValue {
        var members = Members()
        if withNumbers { members.add("number", number.map { Int($0) }) }
        members.add("to", destination)
        members.add("many", ifTrue: cardinality != .toOne)
        members.add("ordered", ifTrue: cardinality == .orderedToMany)
        members.add("inverse", inverse)
        if deleteRule != .nullify { members.add("onDelete", deleteRule.rawValue) }
        if orphanRule != .keep { members.add("orphans", orphanRule.rawValue) }
        members.add("min", minCount)
        members.add("max", maxCount)
        members.add("userInfo", userInfo)
        members.add("renamedFrom", formerName)
        return .object(members.all)
    }
}

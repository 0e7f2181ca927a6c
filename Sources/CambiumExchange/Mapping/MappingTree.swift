internal import CambiumJSON
import CambiumModel

/// Builds a `ReadingPlan` from the rules for the properties of one entity.
struct MappingTree {
    private struct Node {
        var names: [String] = []
        var keys: [KeyBytes: ReadingPlan.Key] = [:]
        let path: [String]
    }

    /// The UTF-8 of a key. Rows distinguish keys by their bytes, and two strings with different bytes can be equal in Swift.
    private typealias KeyBytes = [UInt8]

    private let entity: Entity
    private let objects: ObjectMapping
    private var nodes = [Node(path: [])]
    private var slots: [ReadingPlan.Slot] = []
    private var slotOfPath: [PropertyPath: Int] = [:]
    private var readings: [ReadingPlan.Reading] = []
    /// The conversion of each attribute; `nil` if the mapping has no rule for the attribute's values.
    private(set) var conversions: [ReadingPlan.Conversion?] = []
    /// The properties that a row can set: the attributes, then the relationships, each in the order of the entity. A property without a
    /// rule is read from the key with its name. Such a property is omitted if a rule reads another property from that key.
    private(set) var properties: [Property] = []
    /// The properties that no row can set, because their rule is null, or because a rule reads another property from the key with their
    /// name.
    private(set) var unread: Set<KeyTable.Target> = []
    /// The keys that lead directly to a property. Exactly one property is read from such a key, and the property has no functions or
    /// formats. For every other key, a numbered slot keeps the value until the whole object has been read.
    private var direct: [(name: String, target: KeyTable.Target)] = []
    private var isPlain = true

    init(_ entity: Entity, _ objects: ObjectMapping) {
        self.entity = entity
        self.objects = objects
    }

    /// An attribute or relationship, and the paths at which an import reads its value.
    struct Property {
        let name: String
        let target: KeyTable.Target
        /// The JSON pointer to the rule, relative to the rules for the entity.
        let place: String
        let rule: PropertyMapping
        let isListed: Bool
        var paths: [PropertyPath] = []
    }

    typealias Mistake = (_ place: String, _ message: String) -> CambiumError

    /// Reads the rules of all properties. If a rule is invalid, throws the error that `mistake` creates from its place and a message.
    mutating func read(_ mistake: Mistake) throws(CambiumError) {
        var properties: [Property] = []
        for (index, attribute) in entity.attributes.enumerated() {
            let rule = objects.attributes[attribute.name]
            let place = "/attributes/" + JSONPointer.escaped(attribute.name)
            if attribute.isDerived {
                if rule != nil { throw mistake(place, "'\(attribute.name)' is derived, so no row can set it; remove the rule") }
                conversions.append(nil)
                continue
            }
            conversions.append(try conversion(rule, attribute) { mistake(place + $0, $1) })
            let property = Property(
                name: attribute.name, target: .attribute(index), place: place, rule: rule ?? PropertyMapping(), isListed: rule != nil)
            properties.append(property)
        }
        for (index, relationship) in entity.relationships.enumerated() {
            let rule = objects.relationships[relationship.name]
            let place = "/relationships/" + JSONPointer.escaped(relationship.name)
            if let rule { try Self.checkRelationship(rule) { mistake(place + $0, $1) } }
            let property = Property(
                name: relationship.name, target: .relationship(index), place: place, rule: rule ?? PropertyMapping(),
                isListed: rule != nil)
            properties.append(property)
        }
        for index in properties.indices { properties[index].paths = try paths(properties[index], mistake) }
        let read = Set(properties.filter { $0.isListed && !$0.rule.isConstant }.flatMap(\.paths).flatMap(Self.firstKeys))
        for index in properties.indices where properties[index].rule.isConstant && read.contains(Array(properties[index].name.utf8)) {
            properties[index].paths = []
        }
        let claimed = Set(properties.filter(\.isListed).flatMap(\.paths).flatMap(Self.firstKeys))
        func isTaken(_ property: Property) -> Bool { !property.isListed && claimed.contains(Array(property.name.utf8)) }
        for property in properties where property.rule.source == .nothing || isTaken(property) { unread.insert(property.target) }
        properties.removeAll(where: isTaken)
        var uses: [KeyBytes: Int] = [:]
        for path in properties.flatMap(\.paths) {
            for key in Set(Self.firstKeys(of: path)) { uses[key, default: 0] += 1 }
        }
        for property in properties { add(property, uses) }
        self.properties = properties
        isPlain = isPlain && direct.count == entity.attributes.count(where: { !$0.isDerived }) + entity.relationships.count
    }

    /// Returns the keys at which the value of a path may begin: the first key of the path, and the whole path as one key.
    private static func firstKeys(of path: PropertyPath) -> [KeyBytes] { [Array(path.keys[0].utf8), Array(path.literal.utf8)] }

    private func conversion(
        _ rule: PropertyMapping?, _ attribute: Attribute, _ mistake: Mistake
    ) throws(CambiumError) -> ReadingPlan.Conversion? {
        guard let rule else { return nil }
        try Self.checkDates(rule, mistake)
        guard !rule.functions.isEmpty || !rule.dates.isEmpty || rule.numbers != nil else { return nil }
        var dates: DateReader?
        if !rule.dates.isEmpty {
            guard attribute.type == .date else {
                let type = attribute.type.rawValue
                throw mistake("/dates", "'\(attribute.name)' is of type \(type), but 'dates' is only for attributes of type date")
            }
            guard PropertyMapping.pivotRange.contains(rule.pivot) else { throw mistake("/pivot", PropertyMapping.pivotRule) }
            do {
                dates = try DateReader(rule.dates, zone: rule.zone, pivot: rule.pivot)
            } catch {
                throw mistake(error.place, error.message)
            }
        }
        if rule.numbers != nil, !attribute.type.isNumber {
            throw mistake("/numbers", "'\(attribute.name)' is of type \(attribute.type.rawValue), but 'numbers' is only for numbers")
        }
        if let flaw = rule.numbers?.flaw { throw mistake("/numbers/" + flaw.mark, flaw.message) }
        return .init(functions: rule.functions, dates: dates, numbers: rule.numbers)
    }

    /// Throws if a rule has a zone or a pivot without date formats, because only date formats use a zone or a pivot.
    private static func checkDates(_ rule: PropertyMapping, _ mistake: Mistake) throws(CambiumError) {
        guard rule.dates.isEmpty else { return }
        let formats = "write formats of dates, such as \"dates\": [\"iso8601\"]"
        if rule.zone != PropertyMapping.standardZone { throw mistake("/zone", "'zone' needs 'dates'; \(formats)") }
        if rule.pivot != PropertyMapping.standardPivot { throw mistake("/pivot", "'pivot' needs 'dates'; \(formats)") }
    }

    /// Throws if the rule for a relationship has formats, which are only for attributes.
    private static func checkRelationship(_ rule: PropertyMapping, _ mistake: Mistake) throws(CambiumError) {
        if !rule.dates.isEmpty { throw mistake("/dates", "'dates' is only for attributes of type date, and not for relationships") }
        if rule.numbers != nil { throw mistake("/numbers", "'numbers' is only for numbers, and not for relationships") }
        try checkDates(rule, mistake)
    }

    private func paths(_ property: Property, _ mistake: Mistake) throws(CambiumError) -> [PropertyPath] {
        // An export writes a constant at the key with the property's name, so rows may contain this key. An import ignores its value.
        if property.rule.source == .name || property.rule.isConstant { return [PropertyPath(key: property.name)] }
        let texts = property.rule.source.paths
        if texts.isEmpty, property.rule.source != .nothing { throw mistake(property.place, "expected at least one path") }
        var paths: [PropertyPath] = []
        for text in texts {
            guard let path = PropertyPath(text, delimiter: objects.delimiter, escape: objects.escape) else {
                let flaw = "the path '\(text)' has an empty key; write a key before and after each '\(objects.delimiter)'"
                throw mistake(property.place, flaw)
            }
            if let flaw = path.flaw { throw mistake(property.place, flaw) }
            paths.append(path)
        }
        return paths
    }

    private mutating func add(_ property: Property, _ uses: [KeyBytes: Int]) {
        let source: ReadingPlan.Source
        switch property.rule.source {
        case .nothing:
            isPlain = false
            return
        case .constant(let value):
            for path in property.paths { _ = slot(path) }
            source = .constant(value)
        case .join(_, let separator): source = .join(property.paths.map { slot($0) }, separator: separator)
        case .name, .path, .coalesce:
            let rule = property.rule
            if property.paths.count == 1, let path = property.paths.first, path.keys.count == 1, uses[Array(path.literal.utf8)] == 1,
                rule.functions.isEmpty, rule.dates.isEmpty, rule.numbers == nil
            {
                direct.append((path.literal, property.target))
                isPlain = isPlain && path.literal.hasSameBytes(as: property.name)
                return
            }
            source = .first(property.paths.map { slot($0) })
        }
        isPlain = false
        readings.append(.init(property: property.target, source: source, functions: property.rule.functions))
    }

    /// Adds a path from which no property is read. An import then does not report the keys of the path as unknown.
    mutating func pass(_ path: PropertyPath) {
        _ = slot(path)
        isPlain = false
    }

    /// Returns the number of the slot in which a reader keeps the value at the end of a path. If the path is new, adds it to the tree.
    private mutating func slot(_ path: PropertyPath) -> Int {
        if let known = slotOfPath[path] { return known }
        let slot = slots.count
        slotOfPath[path] = slot
        slots.append(.init(pointer: path.pointer, literalPointer: "/" + JSONPointer.escaped(path.literal), path: path.literal))
        var node = 0
        for key in path.keys.dropLast() { node = child(of: node, key) }
        if let last = path.keys.last { change(node, last) { $0.slots.append((slot, false)) } }
        if path.keys.count > 1 { change(0, path.literal) { $0.slots.append((slot, true)) } }
        return slot
    }

    private mutating func child(of node: Int, _ key: String) -> Int {
        if let known = nodes[node].keys[Array(key.utf8)]?.node { return known }
        let child = nodes.count
        nodes.append(Node(path: nodes[node].path + [key]))
        change(node, key) { $0.node = child }
        return child
    }

    private mutating func change(_ node: Int, _ key: String, _ body: (inout ReadingPlan.Key) -> Void) {
        let bytes = Array(key.utf8)
        if nodes[node].keys[bytes] == nil { nodes[node].names.append(key) }
        body(&nodes[node].keys[bytes, default: .init()])
    }

    /// The plan of the mapping; `nil` if it would only state that each property is read from the key with its name.
    var plan: ReadingPlan? {
        if isPlain { return nil }
        var keys: [ReadingPlan.Key] = []
        var resolved: [ReadingPlan.Node] = []
        for (index, node) in nodes.enumerated() {
            var targets = index == 0 ? direct : []
            // The path to the name of the entity may begin with a key from which the mapping reads a property. Such a key leads only to the
            // property.
            let directNames = Set(targets.map { Array($0.name.utf8) })
            for name in node.names where !directNames.contains(Array(name.utf8)) {
                targets.append((name, .mapped(keys.count)))
                keys.append(node.keys[Array(name.utf8)] ?? .init())
            }
            resolved.append(
                .init(
                    table: KeyTable(targets), pointer: node.path.map { "/" + JSONPointer.escaped($0) }.joined(),
                    prefix: node.path.map { $0 + objects.delimiter }.joined(), slots: slots(below: index)))
        }
        return ReadingPlan(nodes: resolved, keys: keys, slots: slots, readings: readings, conversions: conversions)
    }

    private func slots(below node: Int) -> [Int] {
        nodes[node].names.flatMap { name -> [Int] in
            guard let key = nodes[node].keys[Array(name.utf8)] else { return [] }
            return key.slots.filter { !$0.isLiteral }.map(\.slot) + (key.node.map { slots(below: $0) } ?? [])
        }
    }
}

extension AttributeType {
    /// Whether the values are numbers, so that a mapping may have `numbers` for them.
    var isNumber: Bool { [.int16, .int32, .int64, .float, .double, .decimal].contains(self) }
}

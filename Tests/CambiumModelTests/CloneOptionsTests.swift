import CambiumModel
import Testing

@Suite struct CloneOptionsTests {
    private static let entities = """
        "Node":{"abstract":true,"attributes":{"name":{"type":"string","optional":true,"maxLength":5}},
        "relationships":{"next":{"to":"Node"},"tags":{"to":"Tag","many":true,"inverse":"nodes"}}},
        "Leaf":{"parent":"Node","attributes":{"small":{"type":"int16","optional":true,"min":0}},"relationships":{"own":{"to":"Tag"}}},
        "Twig":{"parent":"Node"}, "Bud":{"parent":"Leaf"},
        "Tag":{"attributes":{"name":{"type":"string","optional":true}},"relationships":{"nodes":{"to":"Node","many":true,"inverse":"tags"},
        "next":{"to":"Tag"}}}
        """

    /// Returns the rules that follow from a request, such as `Leaf.next skip` or `Leaf.next skip at the root`.
    private func rules(_ rules: [String: CloneRule] = [:], atRoot: [String] = []) throws -> [String] {
        let schema = try SchemaFixture.schema(Self.entities)
        var request = CloneRequest(excludedAtRoot: atRoot)
        request.rules = rules
        return try CloneOptions(request, schema, rootEntities: []).rules.map { rule in
            let entity = try #require(schema.entity(rule.entity))
            let relationship = try #require(entity.relationship(rule.relationship))
            return "\(entity.name).\(relationship.name) \(rule.rule)\(rule.isAtRoot ? " at the root" : "")"
        }
    }

    private func rootValues(_ values: [String: Value], _ entities: [String]) throws -> [String: Value] {
        let schema = try SchemaFixture.schema(Self.entities)
        var request = CloneRequest()
        request.rootValues = values
        let options = try CloneOptions(request, schema, rootEntities: entities.map { try #require(schema.entity($0)) })
        return Dictionary(
            uniqueKeysWithValues: options.rootValues.map { value in
                let entity = schema.entity(value.root)
                // A sub-entity may declare the attribute, so all entities of the hierarchy are searched.
                let attributes = schema.entities.filter { $0.root == value.root }.compactMap { $0.attribute(value.attribute) }
                return ("\(entity?.name ?? "").\(attributes.first?.name ?? "")", value.value)
            })
    }

    private func code(_ body: () throws -> Void) -> CambiumError.Code? {
        do { try body() } catch { return (error as? CambiumError)?.code }
        return nil
    }

    // MARK: Rules

    @Test func `an empty request is read as empty options`() throws {
        let options = try CloneOptions(CloneRequest(), SchemaFixture.schema(Self.entities), rootEntities: [])
        #expect(options == CloneOptions())
    }

    @Test func `a name alone applies to every entity with such a relationship`() throws {
        #expect(try rules(["next": .skip]) == ["Leaf.next skip", "Twig.next skip", "Bud.next skip", "Tag.next skip"])
        #expect(try rules(["own": .copy]) == ["Leaf.own copy", "Bud.own copy"])
    }

    @Test func `an entity's name includes its sub-entities, but no abstract entity`() throws {
        #expect(try rules(["Node.next": .copy]) == ["Leaf.next copy", "Twig.next copy", "Bud.next copy"])
        #expect(try rules(["Leaf.next": .skip]) == ["Leaf.next skip", "Bud.next skip"])
        #expect(try rules(["Bud.own": .skip]) == ["Bud.own skip"])
    }

    @Test func `a rule with an entity overrides a name alone, and a sub-entity overrides its parent`() throws {
        #expect(
            try rules(["tags": .copy, "Node.tags": .share, "Leaf.tags": .skip, "Bud.tags": .copy]) == [
                "Leaf.tags skip", "Twig.tags share", "Bud.tags copy",
            ])
        #expect(try rules(["next": .copy, "Tag.next": .skip]) == ["Leaf.next copy", "Twig.next copy", "Bud.next copy", "Tag.next skip"])
    }

    @Test func `an exclusion at the root keeps the rule of the other levels`() throws {
        #expect(
            try rules(["Leaf.next": .copy], atRoot: ["next"]) == [
                "Leaf.next copy", "Leaf.next skip at the root", "Twig.next skip at the root", "Bud.next copy",
                "Bud.next skip at the root", "Tag.next skip at the root",
            ])
    }

    @Test func `rules are in ascending order of entity and relationship, each once`() throws {
        let found = try rules(["tags": .copy, "next": .skip], atRoot: ["tags", "tags", "Node.tags"])
        #expect(Set(found).count == found.count)
        #expect(found.prefix(3) == ["Leaf.next skip", "Leaf.tags copy", "Leaf.tags skip at the root"])
    }

    @Test(arguments: [
        "nope", "name", "", ".", "Nope.next", "Node.", ".next", "Twig.own", "Node.name", "Tag.tags", "Node.next.next", "node.next",
    ])
    func `a name that is not a relationship is refused`(_ name: String) {
        #expect(code { _ = try rules([name: .skip]) } == .unknownName)
        #expect(code { _ = try rules(atRoot: [name]) } == .unknownName)
    }

    @Test(arguments: [
        ("own", ["Leaf"], nil), ("own", ["Twig", "Bud"], nil), ("own", ["Twig"], CambiumError.Code.unknownName),
        ("Node.next", ["Leaf"], nil), ("Bud.next", ["Leaf"], .unknownName), ("Tag.next", ["Leaf", "Bud"], .unknownName),
        ("Tag.next", ["Leaf", "Tag"], nil), ("nodes", ["Leaf"], .unknownName),
    ])
    func `an exclusion at the root fits a root`(_ name: String, _ roots: [String], _ expected: CambiumError.Code?) throws {
        let schema = try SchemaFixture.schema(Self.entities)
        let entities = try roots.map { try schema.required($0) }
        #expect(code { _ = try CloneOptions(CloneRequest(excludedAtRoot: [name]), schema, rootEntities: entities) } == expected)
        #expect(code { _ = try CloneOptions(CloneRequest(excluding: [name]), schema, rootEntities: entities) } == nil)
    }

    // MARK: Values for the roots

    @Test func `a root value applies to each hierarchy of the roots`() throws {
        let named = try rootValues(["name": .string("new")], ["Leaf", "Twig", "Tag"])
        #expect(named == ["Node.name": .string("new"), "Tag.name": .string("new")])
        #expect(try rootValues(["small": .int(4), "name": .null], ["Leaf", "Bud"]) == ["Node.small": .int(4), "Node.name": .null])
        #expect(try rootValues(["name": .string("new")], []) == [:])
    }

    @Test(arguments: [
        ("nope", Value.null, CambiumError.Code.unknownName), ("next", .null, .unknownName), ("Leaf.name", .null, .unknownName),
        ("name", .int(1), .invalidInput), ("small", .int(40_000), .invalidInput), ("small", .string("1"), .invalidInput),
        ("name", .string("longer"), .ruleViolated), ("small", .int(-1), .ruleViolated),
    ])
    func `a root value that does not fit is refused`(_ name: String, _ value: Value, _ expected: CambiumError.Code) {
        #expect(code { _ = try rootValues([name: value], ["Leaf"]) } == expected)
    }

    @Test func `a root value is refused if one of the roots lacks the attribute`() {
        #expect(code { _ = try rootValues(["small": .int(1)], ["Leaf", "Twig"]) } == .unknownName)
    }

    // MARK: Depth and keys

    /// Returns the code of the error of resolving a request. Returns `nil` if the request is resolved, and expects its depth
    /// and keys to be unchanged.
    private func outcome(_ request: CloneRequest) -> CambiumError.Code? {
        code {
            let options = try CloneOptions(request, SchemaFixture.schema(Self.entities), rootEntities: [])
            #expect(options == CloneOptions(depth: request.depth, keys: request.keys))
        }
    }

    @Test(arguments: [(nil, nil), (0, nil), (7, nil), (-1, CambiumError.Code.invalidInput), (Int.min, .invalidInput)])
    func `a depth counts from 0`(_ depth: Int?, _ expected: CambiumError.Code?) {
        #expect(outcome(CloneRequest(depth: depth)) == expected)
    }

    @Test(arguments: [
        (CloneKeys.standard, nil), (CloneKeys(exclude: "omit", rebuild: "renew", followParent: "above", withoutParent: "orphan"), nil),
        (CloneKeys(exclude: "rebuild", rebuild: "exclude"), nil), (CloneKeys(exclude: String(repeating: "x", count: 255)), nil),
        (CloneKeys(exclude: String(repeating: "x", count: 256)), CambiumError.Code.invalidInput),
        (CloneKeys(exclude: "rebuild"), .invalidInput), (CloneKeys(withoutParent: "followParent"), .invalidInput),
        (CloneKeys(rebuild: ""), .invalidInput), (CloneKeys(followParent: "clone"), .invalidInput),
    ])
    func `keys must be four different words without another meaning`(
        _ keys: CloneKeys, _ expected: CambiumError.Code?
    ) {
        #expect(outcome(CloneRequest(keys: keys)) == expected)
    }
}

import CambiumBytes
internal import CambiumModel
import FoundationEssentials

extension ReferenceGraph {
    // MARK: Relationships

    /// Returns the rule that applies to an object's relationship in a clone.
    func rule(_ relationship: Relationship, of id: ObjectID, _ plan: ReferenceClone) -> CloneRule {
        guard let entity = objects[id]?.entity else { return .skip }
        return rule(relationship, entity, isRoot: plan.isRoot(id), plan.options)
    }

    /// Returns the rule for the inverse relationship of a member, or `nil` if the schema names no inverse.
    func oppositeRule(_ relationship: Relationship, of member: ObjectID, _ plan: ReferenceClone) -> CloneRule? {
        guard let property = end(opposite(side(relationship))).property,
            let inverse = objects[member]?.entity.relationship(property)
        else { return nil }
        return rule(inverse, of: member, plan)
    }

    private func rule(_ relationship: Relationship, _ entity: Entity, isRoot: Bool, _ options: CloneOptions) -> CloneRule {
        let requested = options.rules.filter { $0.entity == entity.number && $0.relationship == relationship.number }
        if isRoot, let atRoot = requested.first(where: \.isAtRoot) { return atRoot.rule }
        if let everywhere = requested.first(where: { !$0.isAtRoot }) { return everywhere.rule }
        if relationship.userInfo[options.keys.exclude] != nil { return .skip }
        switch relationship.userInfo["clone"]?.lowercased() {
        case "copy": return .copy
        case "share": return .share
        case "skip": return .skip
        default: break
        }
        let inverse = end(opposite(side(relationship)))
        return inverse.property != nil && inverse.isToMany ? .share : .copy
    }

    /// Checks that no rule would share objects that can have only one owner.
    func checkCloneRules(_ options: CloneOptions) throws(CambiumError) {
        for entity in schema.entities where !entity.isAbstract {
            for relationship in entity.relationships where !end(opposite(side(relationship))).isToMany {
                let rules = [true, false].map { rule(relationship, entity, isRoot: $0, options) }
                if rules.contains(.share) {
                    throw CambiumError(.invalidInput, "Sharing '\(relationship.name)' would take its members from the original.")
                }
            }
        }
    }

    // MARK: Attributes

    func checkRootValues(_ roots: [ObjectID], _ options: CloneOptions) throws(CambiumError) {
        for given in options.rootValues {
            for root in roots where root.root == given.root {
                guard let attribute = objects[root]?.entity.attribute(given.attribute) else { continue }
                if attribute.isDerived { throw CambiumError(.invalidInput, "'\(attribute.name)' is derived.") }
                guard ValueKey.fits(given.value, attribute.type) else {
                    throw CambiumError(.invalidInput, "'\(attribute.name)' cannot hold the value that is given for the roots.")
                }
            }
        }
    }

    func checkUniqueSets(_ plan: ReferenceClone) throws(CambiumError) {
        for entity in schema.entities {
            let originals = plan.reached.filter { objects[$0]?.entity.number == entity.number }
            if originals.isEmpty { continue }
            let areAllRoots = originals.allSatisfy(plan.isRoot)
            for set in entity.uniqueSets where !entity.hasRelationship(in: set) {
                let differs = set.properties.compactMap(entity.attribute).contains { attribute in
                    let keys = plan.options.keys
                    let hasRule = [keys.exclude, keys.rebuild, keys.followParent].contains { attribute.userInfo[$0] != nil }
                    return attribute.isDerived || hasRule || areAllRoots && rootValue(attribute, plan) != nil
                }
                if !differs { throw CambiumError(.ruleViolated, "The clone would repeat a unique set of '\(entity.name)'.") }
            }
        }
    }

    private func rootValue(_ attribute: Attribute, _ plan: ReferenceClone) -> Value? {
        plan.options.rootValues.first { $0.root == attribute.root && $0.attribute == attribute.number }?.value
    }

    /// Computes the attributes of the copy of an object. An attribute may take its value from the copy of the parent, so the attributes of
    /// that copy must already have been computed.
    func copyAttributes(of id: ObjectID, _ plan: inout ReferenceClone) throws(CambiumError) {
        let object = try live(id)
        guard let copy = plan.copies[id] else { return }
        var values: [PropertyNumber: Value] = [:]
        for attribute in object.entity.attributes where !attribute.isDerived {
            if plan.isRoot(id), let given = rootValue(attribute, plan) {
                values[attribute.number] = given
            } else if attribute.userInfo[plan.options.keys.exclude] != nil {
                values[attribute.number] = attribute.defaultValue
            } else if let path = attribute.userInfo[plan.options.keys.followParent] {
                values[attribute.number] = try followed(path, attribute, id, &plan)
            } else {
                values[attribute.number] = try rebuilt(attribute, id, &plan)
            }
        }
        plan.attributes[copy] = values
    }

    private func followed(
        _ path: String, _ attribute: Attribute, _ id: ObjectID, _ plan: inout ReferenceClone
    ) throws(CambiumError) -> Value {
        let steps = path.split(separator: ".").map(String.init)
        let name = steps.last ?? ""
        var above: ObjectID? = id
        for _ in 0..<max(1, steps.count - 1) { above = above.flatMap { plan.parents[$0] } }
        if let above, let copy = plan.copies[above], let other = objects[above]?.entity.attribute(name), other.type == attribute.type,
            !other.isDerived
        {
            let value = plan.attributes[copy]?[other.number] ?? .null
            if !attribute.constraints.isEmpty, let reason = attribute.constraints.check(value) {
                throw CambiumError(.ruleViolated, "The copy of \(text(id)) would take a value for '\(attribute.name)' that \(reason).")
            }
            return value
        }
        switch attribute.userInfo[plan.options.keys.withoutParent]?.lowercased() {
        case "keep": return try rebuilt(attribute, id, &plan)
        case "blank": return attribute.defaultValue
        default: throw CambiumError(.ruleViolated, "'\(attribute.name)' of \(text(id)) has no parent to follow.")
        }
    }

    /// Returns the value of the original, or a new value if the `userInfo` of the attribute requests one.
    private func rebuilt(_ attribute: Attribute, _ id: ObjectID, _ plan: inout ReferenceClone) throws(CambiumError) -> Value {
        switch attribute.userInfo[plan.options.keys.rebuild]?.lowercased() {
        case nil: return objects[id]?.attributes[attribute.number] ?? .null
        case "uuid":
            guard let copy = plan.copies[id] else { throw CambiumError(.notFound, "\(text(id)) is not copied.") }
            plan.hasUUIDs = true
            return .uuid(newUUID(attribute, copy, plan))
        case "now":
            plan.hasTime = true
            return .date(Date(timeIntervalSinceReferenceDate: Double((plan.time?.microsecondsSince1970 ?? 0) - 978_307_200_000_000) / 1e6))
        case let word?: throw CambiumError(.invalidInput, "'\(attribute.name)' cannot be rebuilt as '\(word)'.")
        }
    }

    /// Returns the new UUID of an attribute of a copy. Section 4 of Docs/Formats/FORMAT.md states how the UUID is computed.
    private func newUUID(_ attribute: Attribute, _ copy: ObjectID, _ plan: ReferenceClone) -> UUID {
        let seed = plan.seed ?? CloneSeed(low: 0, high: 0)
        let input =
            Self.littleEndian(seed.low, 8) + Self.littleEndian(seed.high, 8) + Self.littleEndian(UInt64(copy.root.rawValue), 2)
            + Self.littleEndian(UInt64(attribute.number.rawValue), 2)
        let keys = input.withUnsafeBytes { XXH3.hash128($0, seed: 0) }
        let serials = plan.copies.values.filter { $0.root == copy.root }.map(\.serial)
        let first = serials.min() ?? 0
        let space = max(serials.count, plan.objectCounts[copy.root] ?? 0)
        let bitCount = min(24, UInt64(String(space, radix: 2).utf8.count))
        let (series, number) = (copy.serial - first).quotientAndRemainder(dividingBy: 1 << bitCount)
        let stride = (first + series) &* Self.golden
        let low = Self.mix(keys.high &+ stride) & ~(0xF << 52 | 0x1FFF_FFFF) | 4 << 52 | bitCount << 24 | number
        let high = Self.mix(keys.low &+ stride) & ~0xC0 | 0x80
        let bytes = Self.littleEndian(low, 8) + Self.littleEndian(high, 8)
        return UUID(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8], bytes[9], bytes[10],
                bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
            ))
    }

    private static let golden: UInt64 = 0x9E37_79B9_7F4A_7C15
    private static let factors: (UInt64, UInt64) = (0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB)

    private static func mix(_ word: UInt64) -> UInt64 {
        var word = word
        word = (word ^ word >> 30) &* factors.0
        word = (word ^ word >> 27) &* factors.1
        return word ^ word >> 31
    }

    private static func littleEndian(_ value: UInt64, _ count: UInt64) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}

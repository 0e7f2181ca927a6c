public import CambiumGraph
public import CambiumModel

/// The rules of a schema that a commit would find broken.
public struct BrokenRules: Sendable {
    /// All but duplicates, each as the engine has to report it.
    public internal(set) var violations = Set<Violation>()
    /// Objects with equal values in a unique set, two or more in each group: the engine reports at least one of a group.
    public internal(set) var duplicates: [DuplicateGroup] = []

    public struct DuplicateGroup: Sendable {
        public let attributes: [String]
        /// Such as `Note/42`.
        public let objects: Set<String>
    }

    public var isEmpty: Bool { violations.isEmpty && duplicates.isEmpty }
}

extension ReferenceGraph {
    /// What a commit has to refuse as the graph is.
    public func brokenRules() -> BrokenRules {
        var broken = BrokenRules()
        for id in noted where contains(id) { addViolations(of: id, to: &broken) }
        for denial in denials {
            guard let member = denial.members.first(where: contains) else { continue }
            let rule = Violation.Rule.deleteDenied(relationship: denial.relationship, by: text(member))
            broken.violations.insert(Violation(object: denial.object, rule: rule))
        }
        for entity in schema.entities {
            for set in entity.uniqueSets where set.entity == entity.number { addDuplicates(set, entity, to: &broken) }
        }
        return broken
    }

    private func addViolations(of id: ObjectID, to broken: inout BrokenRules) {
        guard let object = objects[id] else { return }
        func add(_ rule: Violation.Rule) { broken.violations.insert(Violation(object: text(id), rule: rule)) }
        for attribute in object.entity.attributes where !attribute.isOptional && !object.isStub {
            if (object.attributes[attribute.number] ?? .null).isNull { add(.mandatoryAttribute(attribute.name)) }
        }
        for relationship in object.entity.relationships {
            let count = list(side(relationship), id).count
            if count < relationship.minCount, !object.isStub {
                add(.tooFewMembers(relationship.name, count: count, min: relationship.minCount))
            }
            if relationship.isToMany, let max = relationship.maxCount, count > max {
                add(.tooManyMembers(relationship.name, count: count, max: max))
            }
        }
    }

    private func addDuplicates(_ set: UniqueSet, _ entity: Entity, to broken: inout BrokenRules) {
        var groups: [[ValueKey]: [ObjectID]] = [:]
        for id in ids(of: entity) {
            let key = set.attributes.map { ValueKey(objects[id]?.attributes[$0] ?? .null) }
            if !key.contains(.null) { groups[key, default: []].append(id) }
        }
        let names = set.attributes.map { entity.attribute($0)?.name ?? "" }
        for group in groups.values where group.count > 1 {
            broken.duplicates.append(.init(attributes: names, objects: Set(group.map(text))))
        }
    }

    /// What an engine's report lacks, or has too much of; nil where it is right.
    public func difference(from reported: [Violation]) -> String? {
        let expected = brokenRules()
        var others = Set<Violation>()
        var unreported = expected.duplicates
        for violation in reported {
            guard case .duplicate(let attributes, let other) = violation.rule else {
                others.insert(violation)
                continue
            }
            let isKnown = expected.duplicates.contains {
                $0.attributes == attributes && $0.objects.isSuperset(of: [violation.object, other]) && violation.object != other
            }
            if !isKnown { return "reported and not so: \(violation)" }
            unreported.removeAll { $0.attributes == attributes && $0.objects.contains(violation.object) }
        }
        if let missing = unreported.first { return "not reported: a duplicate of \(missing.attributes) among \(missing.objects.sorted())" }
        if let wrong = others.subtracting(expected.violations).first { return "reported and not so: \(wrong)" }
        if let missing = expected.violations.subtracting(others).first { return "not reported: \(missing)" }
        return nil
    }
}

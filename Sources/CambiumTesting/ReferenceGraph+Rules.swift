public import CambiumGraph
import CambiumModel

/// The rules of a schema that a commit would find broken.
public struct BrokenRules: Sendable {
    /// All but duplicates and denials, each as the engine has to report it.
    public internal(set) var violations = Set<Violation>()
    /// Objects with equal values in a unique set, two or more in each group: the engine reports at least one of a group.
    public internal(set) var duplicates: [DuplicateGroup] = []
    /// Deletions that a member denies: the engine reports one of the members of each.
    public internal(set) var denials: [DeniedDeletion] = []

    public struct DuplicateGroup: Sendable {
        public let attributes: [String]
        /// Such as `Note/42`.
        public let objects: Set<String>
    }

    public struct DeniedDeletion: Sendable {
        public let object: String
        public let relationship: String
        /// The members that are still there.
        public let members: Set<String>
    }

    public var isEmpty: Bool { violations.isEmpty && duplicates.isEmpty && denials.isEmpty }
}

extension ReferenceGraph {
    /// What a commit has to refuse as the graph is.
    public func brokenRules() -> BrokenRules {
        var broken = BrokenRules()
        for id in noted where contains(id) { addViolations(of: id, to: &broken) }
        if let schemaBefore { addViolations(since: schemaBefore, to: &broken) }
        for denial in denials {
            let members = Set(denial.members.filter(contains).map(text))
            if members.isEmpty { continue }
            broken.denials.append(.init(object: denial.object, relationship: denial.relationship, members: members))
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
            let key = set.attributes.map { ValueKey(unique: objects[id]?.attributes[$0] ?? .null) }
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
        var duplicates = expected.duplicates
        var denials = expected.denials
        for violation in reported {
            switch violation.rule {
            case .duplicate(let attributes, let other):
                let objects: Set = [violation.object, other]
                let isKnown = expected.duplicates.contains {
                    $0.attributes == attributes && $0.objects.isSuperset(of: objects) && objects.count == 2
                }
                if !isKnown { return "reported and not so: \(violation)" }
                duplicates.removeAll { $0.attributes == attributes && $0.objects.contains(violation.object) }
            case .deleteDenied(let relationship, let member):
                func isTold(_ denial: BrokenRules.DeniedDeletion) -> Bool {
                    denial.object == violation.object && denial.relationship == relationship && denial.members.contains(member)
                }
                if !expected.denials.contains(where: isTold) { return "reported and not so: \(violation)" }
                denials.removeAll(where: isTold)
            default: others.insert(violation)
            }
        }
        if let missing = duplicates.first { return "not reported: a duplicate of \(missing.attributes) among \(missing.objects.sorted())" }
        if let missing = denials.first { return "not reported: \(missing.object) is denied by \(missing.members.sorted())" }
        if let wrong = others.subtracting(expected.violations).first { return "reported and not so: \(wrong)" }
        return expected.violations.subtracting(others).first.map { "not reported: \($0)" }
    }
}

package import CambiumGraph
internal import CambiumModel

/// The rules of the schema that the current state of a reference graph breaks. The engine must report these rules when it commits the same
/// state.
package struct BrokenRules: Sendable {
    /// All violations except duplicates and denied deletions. The engine must report exactly these violations.
    package internal(set) var violations = Set<Violation>()
    /// Groups of two or more objects that have equal values although the values must be unique. The engine must report at least one object
    /// of each group.
    package internal(set) var duplicates: [DuplicateGroup] = []
    /// Deletions that a `deny` rule forbids. For each of them, the engine must report one of the members that deny the deletion.
    package internal(set) var denials: [DeniedDeletion] = []

    package struct DuplicateGroup: Sendable {
        package let attributes: [String]
        /// The ids of the objects, such as `Note/42`.
        package let objects: Set<String>
    }

    package struct DeniedDeletion: Sendable {
        package let object: String
        package let relationship: String
        /// The members that still exist, each of which denies the deletion.
        package let members: Set<String>
    }

    package var isEmpty: Bool { violations.isEmpty && duplicates.isEmpty && denials.isEmpty }
}

extension ReferenceGraph {
    /// Returns the violations for which the engine must reject a commit of the current state.
    package func brokenRules() -> BrokenRules {
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
        for attribute in object.entity.attributes where !attribute.isOptional && !attribute.isDerived && !object.isStub {
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
            let key = set.properties.map { property in
                guard let relationship = entity.relationship(property) else { return ValueKey(unique: value(property, of: id)) }
                return ValueKey(unique: list(side(relationship), id).first.map { .string(text($0)) } ?? .null)
            }
            if !key.contains(.null) { groups[key, default: []].append(id) }
        }
        let names = entity.names(of: set)
        for group in groups.values where group.count > 1 {
            broken.duplicates.append(.init(attributes: names, objects: Set(group.map(text))))
        }
    }

    /// Compares `brokenRules()` with the violations that the engine reported. Returns a sentence about a missing or wrong violation, or
    /// `nil` if the report is right.
    package func difference(from reported: [Violation]) -> String? {
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
                if !isKnown { return "reported wrongly: \(violation)" }
                duplicates.removeAll { $0.attributes == attributes && $0.objects.contains(violation.object) }
            case .deleteDenied(let relationship, let member):
                func isReported(_ denial: BrokenRules.DeniedDeletion) -> Bool {
                    denial.object == violation.object && denial.relationship == relationship && denial.members.contains(member)
                }
                if !expected.denials.contains(where: isReported) { return "reported wrongly: \(violation)" }
                denials.removeAll(where: isReported)
            default: others.insert(violation)
            }
        }
        if let missing = duplicates.first { return "not reported: a duplicate of \(missing.attributes) among \(missing.objects.sorted())" }
        if let missing = denials.first { return "not reported: \(missing.object) is denied by \(missing.members.sorted())" }
        if let wrong = others.subtracting(expected.violations).first { return "reported wrongly: \(wrong)" }
        return expected.violations.subtracting(others).first.map { "not reported: \($0)" }
    }
}

/// The rules in `userInfo` that steer deep clones. They are checked when a schema is loaded, so that a clone cannot fail on a
/// misspelled word.
enum CloneRules {
    static func check(
        _ definition: SchemaDefinition, _ byName: [String: EntityDefinition], _ mistakes: inout SchemaMistakes
    ) {
        for entity in definition.entities {
            let place = SchemaPlace.entity(entity.name)
            for attribute in entity.attributes {
                let place = place["attributes"][attribute.name]["userInfo"]
                guard let follow = check(attribute, place, &mistakes).follow else { continue }
                checkParents(attribute, follow, of: entity, definition, place, &mistakes)
            }
            for relationship in entity.relationships {
                let inverse = byName[relationship.destination]?.relationships.first {
                    // Named on either side.
                    $0.name == relationship.inverse || $0.inverse == relationship.name && $0.destination == entity.name
                }
                check(relationship, inverse, place["relationships"][relationship.name]["userInfo"], &mistakes)
            }
        }
    }

    private static func check(
        _ attribute: AttributeDefinition, _ place: SchemaPlace, _ mistakes: inout SchemaMistakes
    ) -> CloneAttributeRule {
        let mayBeMissing = attribute.presence == .optional || attribute.defaultValue ?? .null != .null
        var found: [(key: String, message: String)] = []
        let rule = CloneAttributeRule(attribute.userInfo, .standard, type: attribute.type, mayBeMissing: mayBeMissing) {
            found.append(($0, $1))
        }
        for mistake in found { mistakes.add(place[mistake.key].pointer, mistake.message) }
        return rule
    }

    /// A name is looked for in every entity that has a relationship to this one: each may be a parent.
    private static func checkParents(
        _ attribute: AttributeDefinition, _ follow: CloneAttributeRule.Follow, of entity: EntityDefinition,
        _ definition: SchemaDefinition, _ place: SchemaPlace, _ mistakes: inout SchemaMistakes
    ) {
        if follow.levelCount > 1 { return }
        let name = follow.name
        let descendants = definition.entities.filter { other in ancestors(of: other, definition).contains { $0.name == entity.name } }
        let family = Set(([entity] + ancestors(of: entity, definition) + descendants).map(\.name))
        var types: Set<AttributeType> = []
        for parent in definition.entities where parent.relationships.contains(where: { family.contains($0.destination) }) {
            let members =
                definition.entities.filter { member in
                    member.name == parent.name || ancestors(of: member, definition).contains { $0.name == parent.name }
                } + ancestors(of: parent, definition)
            for found in members.flatMap(\.attributes) where found.name == name { types.insert(found.type) }
        }
        if types.isEmpty {
            mistakes.add(place["followParent"].pointer, "no entity that leads to '\(entity.name)' has an attribute '\(name)'")
        } else if !types.contains(attribute.type) {
            let found = types.map(\.rawValue).sorted().joined(separator: ", ")
            mistakes.add(
                place["followParent"].pointer, "the parent's '\(name)' is \(found), and this attribute is \(attribute.type.rawValue)")
        }
    }

    private static func ancestors(of entity: EntityDefinition, _ definition: SchemaDefinition) -> [EntityDefinition] {
        var found: [EntityDefinition] = []
        var current = entity.parent
        while let name = current, let parent = definition.entities.first(where: { $0.name == name }) {
            found.append(parent)
            current = parent.parent
        }
        return found
    }

    private static func check(
        _ relationship: RelationshipDefinition, _ inverse: RelationshipDefinition?, _ place: SchemaPlace,
        _ mistakes: inout SchemaMistakes
    ) {
        guard let rule = relationship.userInfo["clone"] else { return }
        switch rule.lowercased() {
        case "copy", "skip": break
        case "share":
            if inverse.map({ $0.cardinality == .toOne }) ?? false {
                mistakes.add(
                    place["clone"].pointer,
                    "a shared target has one '\(inverse?.name ?? "")' only, which the clone would take from the original")
            }
        default: mistakes.add(place["clone"].pointer, "'\(rule)' is none of 'copy', 'share', 'skip'")
        }
    }
}

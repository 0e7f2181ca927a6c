/// The rules in `userInfo` that steer deep clones. They are checked when a schema is loaded, so that a clone cannot fail on a
/// misspelled word.
enum CloneRules {
    static func check(
        _ definition: SchemaDefinition, _ byName: [String: EntityDefinition], _ mistakes: inout SchemaMistakes
    ) {
        for entity in definition.entities {
            let place = SchemaPlace.entity(entity.name)
            for attribute in entity.attributes {
                check(attribute, place["attributes"][attribute.name]["userInfo"], &mistakes)
                checkParents(attribute, of: entity, definition, place["attributes"][attribute.name]["userInfo"], &mistakes)
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

    private static func check(_ attribute: AttributeDefinition, _ place: SchemaPlace, _ mistakes: inout SchemaMistakes) {
        let mayBeMissing = attribute.presence == .optional || attribute.defaultValue ?? .null != .null
        if attribute.userInfo["exclude"] != nil, !mayBeMissing {
            mistakes.add(place["exclude"].pointer, "a clone would lack this mandatory attribute, which has no default")
        }
        if let rebuild = attribute.userInfo["rebuild"] {
            switch rebuild.lowercased() {
            case "uuid" where attribute.type == .uuid, "now" where attribute.type == .date: break
            case "uuid": mistakes.add(place["rebuild"].pointer, "a new UUID does not fit the type \(attribute.type.rawValue)")
            case "now": mistakes.add(place["rebuild"].pointer, "a time does not fit the type \(attribute.type.rawValue)")
            default: mistakes.add(place["rebuild"].pointer, "'\(rebuild)' is neither 'uuid' nor 'now'")
            }
        }
        if let without = attribute.userInfo["withoutParent"] {
            switch without.lowercased() {
            case "keep": break
            case "blank":
                if !mayBeMissing {
                    mistakes.add(place["withoutParent"].pointer, "a clone would lack this mandatory attribute, which has no default")
                }
            default: mistakes.add(place["withoutParent"].pointer, "'\(without)' is neither 'keep' nor 'blank'")
            }
            if attribute.userInfo["followParent"] == nil {
                mistakes.add(place["withoutParent"].pointer, "'withoutParent' says nothing without 'followParent'")
            }
        }
    }

    /// A name is looked for in every entity that has a relationship to this one: each may be a parent.
    private static func checkParents(
        _ attribute: AttributeDefinition, of entity: EntityDefinition, _ definition: SchemaDefinition, _ place: SchemaPlace,
        _ mistakes: inout SchemaMistakes
    ) {
        guard let name = attribute.userInfo["followParent"] else { return }
        guard !name.isEmpty else { return mistakes.add(place["followParent"].pointer, "the name of an attribute is missing") }
        if name.contains("^") { return }
        let family = Set(([entity] + ancestors(of: entity, definition)).map(\.name))
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

/// The rules in `userInfo` that control deep clones. The check of a schema includes these rules, because otherwise only a clone would
/// report a misspelled word.
enum CloneRules {
    /// Checks the rules of all entities, and adds the mistakes in these rules. Throws `.limitExceeded` if the check takes too many steps,
    /// because many entities have many possible parents.
    static func check(
        _ definition: SchemaDefinition, _ tree: SchemaTree, _ mistakes: inout SchemaMistakes
    ) throws(CambiumError) {
        var parents: CloneParents?
        let inverses = Inverses(definition)
        for (index, entity) in definition.entities.enumerated() {
            let place = SchemaPlace.entity(entity.name)
            // The store computes the derived values of a copy, so rules in the `userInfo` of derived attributes have no effect.
            for attribute in entity.attributes where !attribute.userInfo.isEmpty && attribute.derivation == nil {
                let place = place["attributes"][attribute.name]["userInfo"]
                // A path of several levels is resolved when an object is cloned. Therefore, the path cannot be checked here.
                guard let follow = check(attribute, place, &mistakes).follow, follow.levelCount == 1 else { continue }
                var known = parents ?? CloneParents(definition, tree)
                parents = nil
                let types = try known.types(of: follow.name, above: index)
                parents = known
                check(attribute, follow.name, types, entity, place, &mistakes)
            }
            for relationship in entity.relationships where !relationship.userInfo.isEmpty {
                let inverse = inverses.inverse(of: relationship, entity)
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

    private static func check(
        _ attribute: AttributeDefinition, _ name: String, _ types: Set<AttributeType>, _ entity: EntityDefinition, _ place: SchemaPlace,
        _ mistakes: inout SchemaMistakes
    ) {
        if types.isEmpty {
            mistakes.add(place["followParent"].pointer, "no entity with a relationship to '\(entity.name)' has an attribute '\(name)'")
        } else if !types.contains(attribute.type) {
            let found = types.map(\.rawValue).sorted().joined(separator: ", ")
            mistakes.add(
                place["followParent"].pointer,
                "the parent's '\(name)' is of type \(found), but this attribute is of type \(attribute.type.rawValue)")
        }
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
                    "each target has only one '\(inverse?.name ?? "")', so a clone would take the targets from the original; "
                        + "use 'copy' or 'skip'")
            }
        default: mistakes.add(place["clone"].pointer, "'\(rule)' is not one of 'copy', 'share', 'skip'")
        }
    }

    /// The inverses of all relationships. Two relationships are inverses if at least one of them names the other.
    private struct Inverses {
        private var byName: [[String]: RelationshipDefinition] = [:]
        private var byInverse: [[String]: RelationshipDefinition] = [:]

        init(_ definition: SchemaDefinition) {
            for entity in definition.entities {
                for relationship in entity.relationships {
                    byName[[entity.name, relationship.name]] = relationship
                    guard let inverse = relationship.inverse else { continue }
                    let key = [entity.name, relationship.destination, inverse]
                    if byInverse[key] == nil { byInverse[key] = relationship }
                }
            }
        }

        func inverse(of relationship: RelationshipDefinition, _ entity: EntityDefinition) -> RelationshipDefinition? {
            relationship.inverse.flatMap { byName[[relationship.destination, $0]] }
                ?? byInverse[[relationship.destination, entity.name, relationship.name]]
        }
    }
}

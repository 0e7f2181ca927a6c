/// The names of old attributes that mean another property in the new schema. An attribute whose clone rule `followParent` has such a name
/// follows another property. A comparison of the old text of the rule with its new text would not show this change.
struct FollowedNames {
    /// For each of the names, the roots of the old hierarchies in which the name means another property now.
    private var roots: [String: Set<EntityNumber>] = [:]
    /// For each old hierarchy, by its root, the roots of the hierarchies that have a relationship to it.
    private var sources: [EntityNumber: Set<EntityNumber>] = [:]

    init() {}

    /// - Parameter isOther: Returns whether the name of an old attribute means another property in the new schema.
    init(_ old: Schema, isOther: (_ attribute: String, _ holder: Entity) -> Bool) {
        for entity in old.entities {
            for attribute in entity.attributes where attribute.entity == entity.number && isOther(attribute.name, entity) {
                roots[attribute.name, default: []].insert(entity.root)
            }
            for relationship in entity.relationships where relationship.entity == entity.number {
                sources[relationship.destinationRoot, default: []].insert(entity.root)
            }
        }
    }

    /// Returns whether the rule `followParent` of an old attribute names another property in the new schema.
    ///
    /// - Parameter root: The root of the attribute's hierarchy.
    func isOther(in attribute: AttributeDefinition, ofRoot root: EntityNumber) -> Bool {
        let steps = attribute.userInfo[CloneKeys.standard.followParent]?.split(separator: ".") ?? []
        guard let name = steps.last, let changed = roots[String(name)] else { return false }
        // A path of several levels may lead to any hierarchy.
        return steps.count > 2 || !changed.isDisjoint(with: sources[root] ?? [])
    }
}

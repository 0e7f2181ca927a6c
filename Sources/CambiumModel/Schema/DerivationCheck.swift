/// A check of the expression of a derived attribute, before the whole definition of the schema is resolved.
///
///     var check = DerivationCheck(definition, parents: parents)
///     if let mistake = check.mistake(attribute, of: 3) { print(mistake) }
package struct DerivationCheck {
    private var resolver: DerivationResolver

    /// - Parameter parents: For each entity, the index of its parent. The parents must not form a cycle.
    package init(_ definition: SchemaDefinition, parents: [Int?]) {
        resolver = DerivationResolver(definition, SchemaTree(parents: parents))
    }

    /// Returns the reason why an entity cannot have a derived attribute, or `nil` if it can. Complexity: O(properties of the entities that
    /// the expression reads).
    package mutating func mistake(_ attribute: AttributeDefinition, of index: Int) -> String? {
        var mistakes = SchemaMistakes()
        _ = resolver.resolve(attribute, of: index, &mistakes)
        return mistakes.all.first?.message
    }

    /// Returns the types that a derived attribute of an entity can have. The list is empty if the expression has a mistake.
    package mutating func types(_ attribute: AttributeDefinition, of index: Int) -> [AttributeType] {
        attribute.derivation.map { resolver.types($0, of: index) } ?? []
    }
}

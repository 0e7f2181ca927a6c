import CambiumModel

/// The properties that a mapping reads from each key of a row. The table of an entity is built when its first key is looked up.
final class KeyReaders {
    private let resolver: MappingResolver
    private var known: [EntityNumber: [String: [String]]] = [:]

    init(_ resolver: MappingResolver) { self.resolver = resolver }

    /// Returns the names of an entity's properties that are read from a key, or from a path that begins with the key.
    func names(_ key: String, _ entity: Entity) -> [String] {
        if let readers = known[entity.number] { return readers[key] ?? [] }
        let readers = (resolver.rules(entity)?.objects ?? ObjectMapping()).readers(in: entity)
        known[entity.number] = readers
        return readers[key] ?? []
    }
}

import Cambium

/// Completes names of a store's schema when a user presses Tab in the shell. If the store cannot be read, there are no names to complete.
///
/// `words` are the words of the command line: the name of the program, the name of the command, any options, and then the store.
enum NameCompletion {
    /// Returns the names of entities.
    @Sendable static func entities(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
        (schema(words)?.entities ?? []).map(\.name).filter { $0.hasPrefix(prefix) }
    }

    /// Returns the names of attributes of any entity.
    @Sendable static func attributes(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
        let names = (schema(words)?.entities ?? []).flatMap { $0.attributes.map(\.name) }
        return Set(names).filter { $0.hasPrefix(prefix) }.sorted()
    }

    /// Returns the names of relationships of any entity.
    @Sendable static func relationships(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
        let names = (schema(words)?.entities ?? []).flatMap { $0.relationships.map(\.name) }
        return Set(names).filter { $0.hasPrefix(prefix) }.sorted()
    }

    /// Returns the names of the stored queries of the entity that the command line names.
    @Sendable static func queries(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
        (entity(words)?.entity.queries ?? []).map(\.name).filter { $0.hasPrefix(prefix) }
    }

    /// Completes the last path in a list of paths. All paths begin at the entity that the command line names. A sort key may begin with a
    /// minus sign.
    @Sendable static func paths(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
        guard let (schema, entity) = entity(words) else { return [] }
        let split = prefix.lastIndex(of: ",").map { prefix.index(after: $0) } ?? prefix.startIndex
        let last = prefix[split...]
        let sign = last.hasPrefix("-") ? "-" : ""
        let paths = PathNames(schema: schema).continuations(of: String(last.dropFirst(sign.count)), from: entity)
        return paths.map { prefix[..<split] + sign + $0 }
    }

    private static func entity(_ words: [String]) -> (schema: Schema, entity: Entity)? {
        guard let (schema, rest) = store(words), let entity = rest.lazy.compactMap({ schema.entity($0) }).first else { return nil }
        return (schema, entity)
    }

    private static func schema(_ words: [String]) -> Schema? { store(words)?.schema }

    /// Finds the first word after the command that is the path of a store. Returns the schema of this store, and the following words that
    /// are not options. The words before the path may be values of options.
    private static func store(_ words: [String]) -> (schema: Schema, rest: ArraySlice<String>)? {
        let words = words.dropFirst(2).filter { !$0.hasPrefix("-") }
        for (index, word) in words.enumerated() {
            if let schema = schema(of: word) { return (schema, words[(index + 1)...]) }
        }
        return nil
    }

    /// Returns the schema of the store at a path. Reads the path first as it is, and then without the quotes of the shell.
    private static func schema(of word: String) -> Schema? {
        let text = ShellWord.text(of: word)
        for path in text == word ? [word] : [word, text] {
            // The shell cannot show an error, so an unreadable store has no names.
            if let schema = try? ReadOnlyStore(at: path).graph.schema { return schema }
        }
        return nil
    }
}

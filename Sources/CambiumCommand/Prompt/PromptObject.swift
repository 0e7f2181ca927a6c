import Cambium
import CambiumJSON

/// Prints one object for `show` in the prompt.
struct PromptObject {
    private let graph: Graph
    /// The maximum number of members to show for each relationship; `nil` for all members.
    private let memberCountMax: Int?

    init(_ graph: Graph, memberCountMax: Int?) { (self.graph, self.memberCountMax) = (graph, memberCountMax) }

    /// Prints an object.
    ///
    /// - Parameters:
    ///   - parts: An id, or an entity and the values of its identity.
    ///   - include: The relationships whose targets are nested.
    func show(_ parts: [PromptClause], _ include: PromptClause?) throws {
        let place = try place(parts)
        let paths = include?.parts.map(\.text) ?? []
        let tree = try (include ?? parts[0]).located { try IncludeTree(paths, from: graph.entity(of: place), graph.schema, depth: 0) }
        var writer = JSONWriter()
        ObjectWriter(graph).write(place, including: tree, to: &writer)
        ObjectText.print(try JSONValue(parsing: writer.bytes), memberCountMax: memberCountMax ?? .max)
    }

    private func place(_ parts: [PromptClause]) throws -> ObjectPlace {
        let first = parts[0]
        guard let entity = graph.schema.entity(first.text) else {
            if let extra = parts.dropFirst().first {
                if !first.text.contains("/") { _ = try first.located { try graph.schema.required(first.text) } }
                let (id, found) = (Excerpt.plain(first.text), Excerpt.plain(extra.text))
                throw PromptMistake(
                    "'\(found)' follows the id '\(id)', but an id needs nothing else. Remove '\(found)'.", at: extra.start)
            }
            return try first.located { try graph.schema.object(first.text, in: graph).place }
        }
        let values = parts.dropFirst()
        if let mistake = ObjectIdentity(entity, values.map(\.text)).mistake(in: "line") {
            let names = entity.identityValues.map(\.name).joined(separator: " ")
            let remedy =
                names.isEmpty
                ? "Write an id, such as '\(entity.name)/1'." : "Write a value for each of these after 'show \(entity.name)': \(names)."
            let extra = values.dropFirst(entity.identityValues.count).first
            throw PromptMistake("\(mistake) \(remedy)", at: (extra ?? first).start)
        }
        var identity: [Value] = []
        for (clause, wanted) in zip(values, entity.identityValues) {
            do throws(CambiumError) {
                identity.append(try ObjectIdentity.value(clause.text, wanted))
            } catch {
                throw PromptMistake(error, at: clause.start)
            }
        }
        guard let id = graph.find(entity, identity: identity), let place = graph.place(of: id) else {
            throw PromptMistake(
                .notFound, "There is no '\(entity.name)' with this identity. The line '\(entity.name)' lists the objects.",
                at: parts[1].start)
        }
        return place
    }
}

internal import CambiumJSON
import CambiumModel

/// Reads relationships according to a mapping.
extension RowReader {
    /// Reads the members that a mapping assigns to a relationship. Before the call, `self.path` must lead to the members.
    mutating func read(_ members: MappedMembers, _ link: inout RowBatch.Link, _ entity: RowEntity, _ tokens: JSONTokens) throws(RowFailure)
    {
        switch members.item {
        case .failure(let error): try mismatch(&link, tokens, "'\(entity.links[Int(link.index)].name)': \(error.message)")
        case .success(.token(let token)): try read(token, &link, entity, tokens)
        case .success(.value(.null)): try null(&link, entity, tokens)
        case .success(.value(let value)):
            let isToMany = entity.ends[Int(link.index)].isToMany
            link.kind = .members
            if case .array(let elements) = value {
                guard isToMany else {
                    let name = entity.links[Int(link.index)].name
                    return try mismatch(&link, tokens, "'\(name)' is to-one, but its value is \(Excerpt.described(value))")
                }
                for element in elements { member(element, Int(link.index), entity, tokens) }
            } else {
                let count = pending.count
                member(value, Int(link.index), entity, tokens)
                if pending.count == count { try missing(&link, entity, tokens) }
            }
        }
    }

    /// Reads a member from a value that the mapping computed. Such a value has no token.
    mutating func member(_ value: JSONValue, _ link: Int, _ entity: RowEntity, _ tokens: JSONTokens) {
        let destination = entities[entity.ends[link].destination].counted
        do throws(RowFailure) {
            switch value {
            case .null: return
            case .object, .array:
                let (name, wanted) = (entity.links[link].name, destination.entity.name)
                return try memberMismatch(
                    tokens, "'\(name)': expected an identity of '\(wanted)', but found \(Excerpt.described(value))")
            default: break
            }
            guard try hasSingleIdentity(destination, tokens, for: Excerpt.described(value)) else { return }
            let conversion = destination.mapping?.conversions[destination.identity[0]]
            guard let place = try reference(destination, .value(value), conversion, tokens) else { return }
            pending.append(.init(kind: .named, place: Int32(place), element: -1))
        } catch {
            pending.append(.init(kind: .failed, place: batch.note(error), element: -1))
        }
    }

    /// Reads a value that refers to an object, converted by the mapping, and returns the index of the value in the batch. Returns `nil` if
    /// the value is null, or if the value is unusable and the options skip unusable values.
    mutating func reference(
        _ entity: RowEntity, _ item: Item, _ conversion: ResolvedMapping.Conversion?, _ tokens: JSONTokens
    ) throws(RowFailure) -> Int? {
        var token = 0
        if case .token(let own) = item { token = own }
        let converted = convert(item, entity.attributes[entity.identity[0]].type, conversion, tokens)
        return try reference(entity, converted, token, tokens)
    }
}

import CambiumGraph
import CambiumJSON
import CambiumModel

/// Planning what a mapping gives to relationships.
extension RowPlanner {
    /// Plans the members that a mapping gives to a relationship.
    mutating func link(
        _ owner: Int, _ index: Int, _ members: MappedMembers, _ tokens: JSONTokens, _ draft: borrowing Draft
    ) throws(RowFailure) {
        path.push(.pointer(members.pointer))
        defer { path.pop() }
        switch members.item {
        case .failure(let error): try linkMismatch(owner, index, tokens, error.message)
        case .success(.token(let token)): try link(owner, index, token, tokens, draft)
        case .success(.value(.null)): try linkNull(owner, index, tokens)
        case .success(.value(let value)):
            let link = plan.objects[owner].entity.links[index]
            guard let destination = entities[link.destination] else { return }
            let firstPending = pending.count
            if case .array(let elements) = value {
                guard link.isToMany else {
                    return try linkMismatch(owner, index, tokens, "'\(link.relationship.name)' is to-one, and an array found")
                }
                for element in elements { try member(element, destination, tokens, draft) }
            } else {
                try member(value, destination, tokens, draft)
            }
            take(pendingFrom: firstPending, owner, index, isToMany: link.isToMany)
        }
    }

    /// Plans a member that is named by a value which no token has.
    private mutating func member(
        _ value: JSONValue, _ destination: ImportEntity, _ tokens: JSONTokens, _ draft: borrowing Draft
    ) throws(RowFailure) {
        switch value {
        case .null: return
        case .object, .array: return try memberMismatch(tokens, "an identity is wanted, and \(value.kindName) found")
        default: break
        }
        guard try hasSingleIdentity(destination, tokens) else {
            isMismatched = true
            return
        }
        let firstValue = plan.values.count
        let conversion = destination.mapping?.conversions[destination.identity[0]]
        guard let planned = try reference(destination, .value(value), conversion, tokens) else {
            isMismatched = true
            return
        }
        try named(planned, destination, firstValue, tokens, draft)
    }

    /// Plans the one value that names an object, read as the mapping says; nil where a wrong one is passed over.
    mutating func reference(
        _ entity: ImportEntity, _ item: Item, _ conversion: ResolvedMapping.Conversion?, _ tokens: JSONTokens
    ) throws(RowFailure) -> RowPlan.Value? {
        var token = 0
        if case .token(let own) = item { token = own }
        let converted = convert(item, entity.attributes[entity.identity[0]].type, conversion, tokens)
        return try reference(entity, converted, token, tokens)
    }
}

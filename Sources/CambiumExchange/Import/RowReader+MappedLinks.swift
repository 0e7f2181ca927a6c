internal import CambiumJSON
import CambiumModel

/// Reads relationships according to a mapping.
extension RowReader {
    /// Reads the members that a mapping assigns to a relationship. Before the call, `self.path` must lead to the members.
    mutating func read(_ members: MappedMembers, _ link: inout RowBatch.Link, _ entity: RowEntity, _ tokens: JSONTokens) throws(RowFailure)
    {
        switch members.content {
        case .failure(let error): try mismatch(&link, tokens, "'\(entity.links[Int(link.index)].name)': \(error.message)")
        case .success(.item(.token(let token))): try read(token, &link, entity, tokens)
        case .success(.item(.value(.null))): try null(&link, entity, tokens)
        case .success(.elements(let elements, let areInRow)):
            link.kind = .members
            for (position, element) in elements.enumerated() {
                if areInRow { path.push(element: position) }
                member(element, areInRow ? position : -1, Int(link.index), entity, tokens)
                if areInRow { path.pop() }
            }
        case .success(.item(.value(let value))):
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

    /// Applies functions to the value that a mapping finds for a relationship. If the value of a to-many relationship is an array, each
    /// element has a result of its own, because a mismatch concerns only that element. The exception is an array that a `join` needs.
    func members(
        _ item: Item, _ functions: [ValueFunction], isToMany: Bool, _ tokens: JSONTokens
    ) -> Result<MappedMembers.Content, ConversionError> {
        if functions.isEmpty { return .success(.item(item)) }
        var members = isToMany ? listed(item, functions, tokens) : value(item, tokens)
        do throws(ConversionError) {
            for (place, function) in functions.enumerated() {
                if isToMany, case .array(let elements) = members, !functions[place...].contains(where: \.isJoin) {
                    let rest = Array(functions[place...])
                    let results = elements.map { element in Result { () throws(ConversionError) in try rest.apply(element) } }
                    return .success(.elements(results, areInRow: place == 0 && isArray(item, tokens)))
                }
                members = try [function].apply(members)
            }
            return .success(.item(.value(members)))
        } catch {
            return .failure(error)
        }
    }

    /// Returns the value of a to-many relationship before the functions are applied. A CSV field is a list of identities, unless a function
    /// splits its text. A single identity is not an array, because a function may turn it into an array.
    private func listed(_ item: Item, _ functions: [ValueFunction], _ tokens: JSONTokens) -> JSONValue {
        guard readsTexts, case .token(let token) = item, tokens.kind(token) == .string, !functions.contains(where: \.isSplit) else {
            return value(item, tokens)
        }
        let texts = CSVList.elements(Array(tokens.bytes(token))).map { JSONValue.string(String(decoding: $0, as: UTF8.self)) }
        return texts.count == 1 ? texts[0] : .array(texts)
    }

    private func isArray(_ item: Item, _ tokens: JSONTokens) -> Bool {
        if case .token(let token) = item { tokens.kind(token) == .array } else { false }
    }

    private mutating func member(
        _ element: Result<JSONValue, ConversionError>, _ position: Int, _ link: Int, _ entity: RowEntity, _ tokens: JSONTokens
    ) {
        switch element {
        case .success(let value): member(value, at: position, link, entity, tokens)
        case .failure(let error):
            do throws(RowFailure) {
                try memberMismatch(tokens, "'\(entity.links[link].name)': \(error.message)")
            } catch {
                pending.append(.init(kind: .failed, place: batch.track(error), element: Int32(position)))
            }
        }
    }

    /// Reads a member from a value that the mapping computed. Such a value has no token.
    ///
    /// - Parameter position: the position of the value in an array of the row; negative if no array of the row contains the value.
    mutating func member(_ value: JSONValue, at position: Int = -1, _ link: Int, _ entity: RowEntity, _ tokens: JSONTokens) {
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
            let conversion = destination.plan.conversions[destination.identity[0]]
            guard let place = try reference(destination, .value(value), conversion, tokens) else { return }
            pending.append(.init(kind: .named, place: Int32(place), element: Int32(position)))
        } catch {
            pending.append(.init(kind: .failed, place: batch.track(error), element: Int32(position)))
        }
    }

    /// Reads a value that refers to an object, converted by the mapping, and returns the index of the value in the batch. Returns `nil` if
    /// the value is null, or if the value is unusable and the options skip unusable values.
    mutating func reference(
        _ entity: RowEntity, _ item: Item, _ conversion: ReadingPlan.Conversion?, _ tokens: JSONTokens
    ) throws(RowFailure) -> Int? {
        var token = 0
        if case .token(let own) = item { token = own }
        let converted = convert(item, entity.attributes[entity.identity[0]].type, conversion, tokens)
        return try reference(entity, converted, token, tokens)
    }
}

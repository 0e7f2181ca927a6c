internal import CambiumBytes
internal import CambiumJSON
import CambiumModel

extension RowReader {
    /// Reads the members that a row assigns to a relationship.
    mutating func link(_ given: Given, _ entity: RowEntity, _ tokens: JSONTokens) -> RowBatch.Link {
        var link = RowBatch.Link(index: UInt16(given.index))
        let firstPending = pending.count
        let isOuterMismatched = isMismatched
        isMismatched = false
        do throws(RowFailure) {
            if given.value < 0 {
                let members = mapped[given.key]
                path.push(pointer: members.pointer)
                defer { path.pop() }
                link.pointer = trackPointer(members.pointer)
                try read(members, &link, entity, tokens)
            } else {
                path.push(key: given.key)
                defer { path.pop() }
                if entity.isMapped { link.pointer = trackPointer("/" + JSONPointer.escaped(tokens.string(given.key))) }
                try read(given.value, &link, entity, tokens)
            }
        } catch {
            link.kind = .failed
            link.failure = batch.track(error)
        }
        link.isMismatched = isMismatched
        isMismatched = isOuterMismatched
        let firstMember = batch.members.count
        if firstPending < pending.count {
            for place in firstPending..<pending.count { batch.members.append(pending[place]) }
            pending.removeFew(downTo: firstPending)
        }
        link.members = .init(firstMember..<batch.members.count)
        return link
    }

    private mutating func trackPointer(_ pointer: String) -> Int32 {
        batch.pointers.append(pointer)
        return Int32(batch.pointers.count - 1)
    }

    /// Reads the members of a relationship: the elements if the token is an array, otherwise the token itself. Before the call, `self.path`
    /// must lead to the token.
    mutating func read(_ token: Int, _ link: inout RowBatch.Link, _ entity: RowEntity, _ tokens: JSONTokens) throws(RowFailure) {
        let isToMany = entity.ends[Int(link.index)].isToMany
        let kind = tokens.kind(token)
        if kind == .null { return try null(&link, entity, tokens) }
        if kind == .array {
            guard isToMany else {
                let name = entity.links[Int(link.index)].name
                return try mismatch(&link, tokens, "'\(name)' is to-one, but its value is \(Self.described(tokens, token))")
            }
            link.kind = .members
            elements(token, Int(link.index), entity, tokens)
        } else if readsTexts, isToMany, kind == .string {
            link.kind = .members
            members(of: tokens.bytes(token), Int(link.index), entity, tokens)
        } else {
            link.kind = .members
            let count = pending.count
            member(token, -1, Int(link.index), entity, tokens)
            if pending.count == count { try missing(&link, entity, tokens) }
        }
    }

    /// Applies the options to a relationship if its value refers to no object, because the value was read as null or has the wrong type.
    /// The value is not an array.
    mutating func missing(_ link: inout RowBatch.Link, _ entity: RowEntity, _ tokens: JSONTokens) throws(RowFailure) {
        if !isMismatched { return try null(&link, entity, tokens) }
        if options.mismatch == .keep { link.kind = .kept }
    }

    mutating func null(_ link: inout RowBatch.Link, _ entity: RowEntity, _ tokens: JSONTokens) throws(RowFailure) {
        switch options.null {
        case .keep: break
        case .error: throw failure(.nullValue, tokens, Self.refusedNull(entity.links[Int(link.index)].name))
        case .clear:
            // An empty CSV field means an empty list of members, so the option `append` adds no member and keeps the present members.
            let appendsNothing = isRecord && options.toMany == .append && entity.ends[Int(link.index)].isToMany
            link.kind = appendsNothing ? .kept : .cleared
        }
    }

    /// Applies `options.mismatch` to a relationship whose value is of the wrong type.
    mutating func mismatch(_ link: inout RowBatch.Link, _ tokens: JSONTokens, _ message: String) throws(RowFailure) {
        switch options.mismatch {
        case .error: throw failure(.typeMismatch, tokens, message)
        case .null: link.kind = .cleared
        case .keep: link.kind = .kept
        }
    }

    /// Records that the reader skips a member of the wrong type. Throws if the options refuse members of the wrong type.
    mutating func memberMismatch(_ tokens: JSONTokens, _ message: @autoclosure () -> String) throws(RowFailure) {
        if options.mismatch == .error { throw failure(.typeMismatch, tokens, message()) }
        isMismatched = true
    }

    private mutating func elements(_ array: Int, _ link: Int, _ entity: RowEntity, _ tokens: JSONTokens) {
        var element = array + 1
        let end = tokens.next(array)
        var position = 0
        while element < end {
            path.push(element: position)
            member(element, position, link, entity, tokens)
            path.pop()
            element = tokens.next(element)
            position += 1
        }
    }

    /// Reads a member: an object that the row describes, or the identity of an object.
    private mutating func member(_ token: Int, _ element: Int, _ link: Int, _ entity: RowEntity, _ tokens: JSONTokens) {
        let destination = entity.ends[link].destination
        do throws(RowFailure) {
            switch tokens.kind(token) {
            case .null: break
            case .object:
                let place = object(token, destination, tokens)
                pending.append(.init(kind: .described, place: Int32(place), element: Int32(element)))
            case .array:
                let (name, wanted) = (entity.links[link].name, entities[destination].counted.entity.name)
                try memberMismatch(
                    tokens, "'\(name)': expected an object or an identity of '\(wanted)', but found \(Self.described(tokens, token))")
            default:
                let named = try entities[destination].with { destination throws(RowFailure) in
                    try hasSingleIdentity(destination, tokens, for: Self.described(tokens, token))
                        ? try reference(destination, token, tokens) : nil
                }
                if let named { pending.append(.init(kind: .named, place: Int32(named), element: Int32(element))) }
            }
        } catch {
            pending.append(.init(kind: .failed, place: batch.track(error), element: Int32(element)))
        }
    }

    private static func described(_ tokens: JSONTokens, _ token: Int) -> String { Excerpt.described(JSONValue(tokens, token)) }

    /// Returns whether a scalar can refer to an object of an entity. A scalar can do so if the entity's identity has exactly one attribute.
    /// Otherwise, records that a value has the wrong type, or throws if the options refuse values of the wrong type.
    ///
    /// - Parameter value: returns a description of the scalar for the error message.
    mutating func hasSingleIdentity(
        _ destination: RowEntity, _ tokens: JSONTokens, for value: @autoclosure () -> String
    ) throws(RowFailure) -> Bool {
        if destination.keyAttribute != .max { return true }
        if options.mismatch != .error {
            isMismatched = true
            return false
        }
        let why =
            destination.isOwned
            ? "has an identity with a relationship"
            : destination.identity.isEmpty ? "has no identity" : "has an identity of several attributes"
        throw failure(
            .typeMismatch, tokens, "'\(destination.entity.name)' \(why), so a reference to it must be an object, and not \(value())")
    }
}

import CambiumGraph
import CambiumJSON
import CambiumModel

extension RowPlanner {
    /// Plans the members that a row gives to a relationship.
    mutating func link(
        _ owner: Int, _ index: Int, _ key: Int, _ token: Int, _ tokens: JSONTokens, _ draft: borrowing Draft
    ) throws(RowFailure) {
        path.push(.key(key))
        defer { path.pop() }
        try link(owner, index, token, tokens, draft)
    }

    /// As `link`, where the path leads to the value already.
    mutating func link(
        _ owner: Int, _ index: Int, _ token: Int, _ tokens: JSONTokens, _ draft: borrowing Draft
    ) throws(RowFailure) {
        let (isToMany, number) = {
            let link = plan.objects[owner].entity.links[index]
            return (link.isToMany, link.destination)
        }()
        guard let destination = entities[number] else { return }
        let kind = tokens.kind(token)
        if kind == .null { return try linkNull(owner, index, tokens) }
        let firstPending = pending.count
        if kind == .array {
            guard isToMany else {
                return try linkMismatch(owner, index, tokens, "'\(name(owner, index))' is to-one, and an array found")
            }
            try elements(token, destination, tokens, draft)
        } else {
            try member(token, destination, tokens, draft)
        }
        take(pendingFrom: firstPending, owner, index, isToMany: isToMany)
    }

    /// Plans that what is pending are the members.
    mutating func take(pendingFrom firstPending: Int, _ owner: Int, _ index: Int, isToMany: Bool) {
        let first = plan.targets.count
        plan.targets.append(contentsOf: pending[firstPending...])
        pending.removeLast(pending.count - firstPending)
        let change: RowPlan.Link.Change = !isToMany ? .target : options.toMany == .append ? .append : .replace
        // A reference that was passed over leaves a to-one relationship as it is, unless it was of the wrong type.
        if change == .target, first == plan.targets.count {
            if isMismatched, options.mismatch == .null { clear(owner, index) }
        } else {
            plan.links.append(.init(owner: owner, link: index, change: change, targets: first..<plan.targets.count))
        }
        isMismatched = false
    }

    mutating func linkNull(_ owner: Int, _ index: Int, _ tokens: JSONTokens) throws(RowFailure) {
        switch options.null {
        case .keep: break
        case .error: throw failure(.nullValue, tokens, "'\(name(owner, index))' is null")
        case .clear: clear(owner, index)
        }
    }

    /// What a value of the wrong type does to a relationship.
    mutating func linkMismatch(_ owner: Int, _ index: Int, _ tokens: JSONTokens, _ message: String) throws(RowFailure) {
        switch options.mismatch {
        case .error: throw failure(.typeMismatch, tokens, message)
        case .null: clear(owner, index)
        case .keep: break
        }
    }

    /// Passes a member of the wrong type over, where the options say so.
    mutating func memberMismatch(_ tokens: JSONTokens, _ message: String) throws(RowFailure) {
        if options.mismatch == .error { throw failure(.typeMismatch, tokens, message) }
        isMismatched = true
    }

    private func name(_ owner: Int, _ index: Int) -> String { plan.objects[owner].entity.links[index].relationship.name }

    /// Plans that a relationship has no members.
    mutating func clear(_ owner: Int, _ index: Int) {
        let isToMany = plan.objects[owner].entity.links[index].isToMany
        let end = plan.targets.count
        plan.links.append(.init(owner: owner, link: index, change: isToMany ? .replace : .target, targets: end..<end))
    }

    private mutating func elements(
        _ array: Int, _ destination: ImportEntity, _ tokens: JSONTokens, _ draft: borrowing Draft
    ) throws(RowFailure) {
        var element = array + 1
        var position = 0
        while element < tokens.next(array) {
            path.push(.element(position))
            try member(element, destination, tokens, draft)
            path.pop()
            element = tokens.next(element)
            position += 1
        }
    }

    /// Plans a member: an object that is described, or one that is named by its identity.
    private mutating func member(
        _ token: Int, _ destination: ImportEntity, _ tokens: JSONTokens, _ draft: borrowing Draft
    ) throws(RowFailure) {
        switch tokens.kind(token) {
        case .null: break
        case .object: pending.append(try object(token, destination, tokens, draft))
        case .array: try memberMismatch(tokens, "an object or an identity is wanted, and an array found")
        default: try named(token, destination, tokens, draft)
        }
    }

    private mutating func named(
        _ token: Int, _ destination: ImportEntity, _ tokens: JSONTokens, _ draft: borrowing Draft
    ) throws(RowFailure) {
        guard try hasSingleIdentity(destination, tokens) else {
            isMismatched = true
            return
        }
        let firstValue = plan.values.count
        guard let value = try reference(destination, token, tokens) else {
            isMismatched = true
            return
        }
        try named(value, destination, firstValue, tokens, draft)
    }

    /// Whether an object can be named by a scalar.
    func hasSingleIdentity(_ destination: ImportEntity, _ tokens: JSONTokens) throws(RowFailure) -> Bool {
        if destination.identity.count == 1 { return true }
        if options.mismatch != .error { return false }
        let why = destination.identity.isEmpty ? "has no identity" : "has an identity of several attributes"
        throw failure(.typeMismatch, tokens, "'\(destination.entity.name)' \(why), so an object is wanted here")
    }

    /// Plans the object with an identity that was just planned.
    mutating func named(
        _ value: RowPlan.Value, _ destination: ImportEntity, _ firstValue: Int, _ tokens: JSONTokens, _ draft: borrowing Draft
    ) throws(RowFailure) {
        switch find(value, destination, tokens, draft) {
        case .existing(let row):
            plan.forgetValues(from: firstValue)
            try checkFamily(row, destination, tokens, draft)
            pending.append(plan.objects.count)
            plan.objects.append(
                .init(
                    entity: destination, target: .existing(row), isDescribed: false, values: firstValue..<firstValue))
        case .alias(let place):
            plan.forgetValues(from: firstValue)
            pending.append(place)
        default:
            try stub(destination, firstValue, value, tokens)
        }
    }

    private func checkFamily(
        _ row: UInt32, _ destination: ImportEntity, _ tokens: JSONTokens, _ draft: borrowing Draft
    ) throws(RowFailure) {
        if destination.isAlone { return }
        let number = draft.entity(destination.table, row)
        if destination.entity.family.contains(number) { return }
        let name = entities[number]?.entity.name ?? ""
        throw failure(.ruleViolated, tokens, "the object with this identity is a '\(name)' and no '\(destination.entity.name)'")
    }

    private mutating func stub(
        _ entity: ImportEntity, _ firstValue: Int, _ value: RowPlan.Value, _ tokens: JSONTokens
    ) throws(RowFailure) {
        switch options.references {
        case .skip: plan.forgetValues(from: firstValue)
        case .error: throw failure(.unknownReference, tokens, missing(entity, value, tokens))
        case .create:
            if entity.entity.isAbstract {
                let why = ", and it is abstract, so no stub can be made"
                throw failure(.unknownReference, tokens, missing(entity, value, tokens) + why)
            }
            let place = plan.objects.count
            plan.objects.append(
                .init(
                    entity: entity, target: .new, isStub: true, isDescribed: false, values: firstValue..<plan.values.count))
            newObjects.append(entity.entity.root, place)
            pending.append(place)
        }
    }

    private func missing(_ entity: ImportEntity, _ value: RowPlan.Value, _ tokens: JSONTokens) -> String {
        let type = entity.attributes[value.attribute].type
        let stored: StoredForm? = plan.withCell(value, tokens) { cell in
            guard let cell, cell.kind != .null else { return nil }
            return cell.kind == .fixed ? .fixed(cell.low, cell.high) : .bytes(Array(cell.bytes))
        }
        let identity = stored.flatMap { Value(stored: $0, type: type) }?.text ?? "null"
        return "there is no '\(entity.entity.name)' with the identity \(identity)"
    }
}

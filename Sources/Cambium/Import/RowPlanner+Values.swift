import CambiumGraph
import CambiumJSON
import CambiumModel

extension RowPlanner {
    /// Plans the attributes that an object gives, and notes its relationships in `given` for later.
    mutating func values(of token: Int, _ entity: ImportEntity, _ tokens: JSONTokens) throws(RowFailure) {
        entity.beginObject()
        if entity.isMapped, let mapping = entity.mapping { return try values(of: token, entity, mapping, tokens) }
        var key = token + 1
        let end = tokens.next(token)
        while key < end {
            let value = key + 1
            switch entity.keys.target(of: tokens.bytes(key)) {
            case .attribute(let index):
                entity.markAttribute(index)
                try attribute(entity, index, key, value, tokens)
            case .relationship(let index):
                entity.markLink(index)
                given.append(Given(index: index, key: key, value: value))
            case .mapped: break
            case nil:
                try unknown(key, entity, tokens)
            }
            key = tokens.next(value)
        }
    }

    /// - Parameter node: where in a mapping's tree the key is missing; nil where there is none.
    mutating func unknown(
        _ key: Int, _ entity: ImportEntity, _ tokens: JSONTokens, at node: ResolvedMapping.Node? = nil
    ) throws(RowFailure) {
        let name = (node?.prefix ?? "") + tokens.string(key)
        if let path = entities[declared]?.discriminatorPath, path.literal == name || path.keys[0] == name { return }
        switch options.unknown {
        case .ignore: break
        case .report: unknownKeys.append(name)
        case .error:
            let pointer = path.pointer(tokens) + (node?.pointer ?? "") + "/" + RowPath.escaped(tokens.string(key))
            throw RowFailure(code: .unknownKey, pointer: pointer, message: "the key '\(name)' maps to nothing")
        }
    }

    mutating func attribute(
        _ entity: ImportEntity, _ index: Int, _ key: Int, _ token: Int, _ tokens: JSONTokens
    ) throws(RowFailure) {
        let conversion = entity.conversions[index]
        let converted = convert(conversion.type, token, tokens)
        try take(converted, entity, index, token, tokens, key: key)
    }

    /// Plans a converted value as the options say.
    ///
    /// - Parameter key: the token of the key; nil where the path leads to the value already.
    @inline(__always)
    mutating func take(
        _ converted: Result<ScalarForm, ConversionError>, _ entity: ImportEntity, _ index: Int, _ token: Int, _ tokens: JSONTokens,
        key: Int?
    ) throws(RowFailure) {
        let conversion = entity.conversions[index]
        var form = ScalarForm.null
        switch converted {
        case .success(.null):
            if options.null == .error { throw failure(.nullValue, tokens, key: key, "'\(entity.attributes[index].name)' is null") }
            if options.null == .keep { return entity.keepAttribute(index) }
        case .success(let value): form = value
        case .failure(let error):
            if options.mismatch == .error {
                throw failure(.typeMismatch, tokens, key: key, "'\(entity.attributes[index].name)': \(error.message)")
            }
            if options.mismatch == .keep { return entity.keepAttribute(index) }
        }
        if case .null = form, !conversion.isOptional {
            throw failure(.nullValue, tokens, key: key, "'\(entity.attributes[index].name)' must have a value")
        }
        if !conversion.isFree { try check(entity.attributes[index], form, token, tokens, key: key) }
        plan.append(index, form, token: token, scratch: scratch)
    }

    @inline(__always)
    mutating func convert(
        _ type: AttributeType, _ token: Int, _ tokens: JSONTokens
    ) -> Result<ScalarForm, ConversionError> {
        do throws(ConversionError) {
            return .success(try type.scalarForm(tokens, token, scratch: &scratch))
        } catch {
            return .failure(error)
        }
    }

    private func check(
        _ attribute: Attribute, _ form: ScalarForm, _ token: Int, _ tokens: JSONTokens, key: Int?
    ) throws(RowFailure) {
        guard !attribute.constraints.isEmpty else { return }
        let value = Value(form, tokens.bytes(token), scratch, attribute.type)
        if let flaw = attribute.constraints.check(value) { throw failure(.invalidValue, tokens, key: key, "'\(attribute.name)': \(flaw)") }
    }

    // MARK: Identity

    /// Where an object is whose values were just planned; `.new` where it is nowhere.
    func target(
        _ entity: ImportEntity, _ firstValue: Int, _ tokens: JSONTokens, _ draft: borrowing Draft
    ) throws(RowFailure) -> RowPlan.Target {
        guard !entity.identity.isEmpty else { return .new }
        if entity.identity.count == 1 {
            return find(try part(entity.identity[0], entity, firstValue, tokens), entity, tokens, draft)
        }
        var parts: [RowPlan.Value] = []
        for index in entity.identity { parts.append(try part(index, entity, firstValue, tokens)) }
        return find(parts[...], [], entity, tokens, draft)
    }

    private func part(
        _ index: Int, _ entity: ImportEntity, _ firstValue: Int, _ tokens: JSONTokens
    ) throws(RowFailure) -> RowPlan.Value {
        var place = firstValue
        while place < plan.values.count {
            if plan.values[place].attribute == index, !plan.values[place].isNull { return plan.values[place] }
            place += 1
        }
        throw failure(.missingIdentity, tokens, "'\(entity.attributes[index].name)' is part of the identity and is missing")
    }

    /// Looks the one value of an identity up in the draft, then among the objects that this row makes.
    func find(
        _ part: RowPlan.Value, _ entity: ImportEntity, _ tokens: JSONTokens, _ draft: borrowing Draft
    ) -> RowPlan.Target {
        var row: UInt32?
        plan.withCell(part, tokens) { cell in if let cell { row = draft.row(entity.table, identity: cell) } }
        if let row { return .existing(row) }
        if let scanned = entity.scanned {
            plan.withCell(part, tokens) { cell in if let cell { row = scanned.row([cell], draft) } }
            if let row { return .existing(row) }
        }
        if newObjects.isEmpty { return .new }
        return find([part], [], entity, tokens, draft)
    }

    private func find(
        _ parts: ArraySlice<RowPlan.Value>, _ cells: [Cell], _ entity: ImportEntity, _ tokens: JSONTokens,
        _ draft: borrowing Draft
    ) -> RowPlan.Target {
        guard let part = parts.first else {
            if cells.count > 1, let row = draft.row(entity.table, identity: cells) ?? entity.scanned?.row(cells, draft) {
                return .existing(row)
            }
            return newObjects.place(entity.entity.root, cells, plan, tokens).map { .alias($0) } ?? .new
        }
        if newObjects.isEmpty, cells.isEmpty, parts.count == 1 { return .new }
        var target = RowPlan.Target.new
        plan.withCell(part, tokens) { cell in
            target = find(parts.dropFirst(), cells + [cell ?? .null], entity, tokens, draft)
        }
        return target
    }

    /// Plans the one value that names an object; nil where the options say that a wrong one is passed over.
    mutating func reference(
        _ entity: ImportEntity, _ token: Int, _ tokens: JSONTokens
    ) throws(RowFailure) -> RowPlan.Value? {
        let index = entity.identity[0]
        if entity.isMapped, let conversion = entity.mapping?.conversions[index] {
            return try reference(entity, .token(token), conversion, tokens)
        }
        return try reference(entity, convert(entity.attributes[index].type, token, tokens), token, tokens)
    }

    @inline(__always)
    mutating func reference(
        _ entity: ImportEntity, _ converted: Result<ScalarForm, ConversionError>, _ token: Int, _ tokens: JSONTokens
    ) throws(RowFailure) -> RowPlan.Value? {
        let attribute = entity.attributes[entity.identity[0]]
        switch converted {
        case .success(.null):
            return nil
        case .success(let form):
            try check(attribute, form, token, tokens, key: nil)
            plan.append(entity.identity[0], form, token: token, scratch: scratch)
            return plan.values.last
        case .failure(let error):
            if options.mismatch != .error { return nil }
            throw failure(.typeMismatch, tokens, "the identity '\(attribute.name)' of '\(entity.entity.name)': \(error.message)")
        }
    }
}

internal import CambiumJSON
import CambiumModel

/// Reads objects according to a plan.
extension RowReader {
    /// The result of following a path of a mapping in a row.
    enum Finding {
        case absent
        case token(Int, isLiteral: Bool)
        /// A value on the path is null. `node` is the index of the value's node in the tree of the mapping's paths.
        case null(node: Int)
        /// A value on the path is neither an object nor null, so the path cannot be followed. The first number is the token of the value,
        /// and `node` is the index of the value's node in the tree of the mapping's paths.
        case blocked(Int, node: Int)

        var isLiteral: Bool { if case .token(_, isLiteral: true) = self { true } else { false } }
    }

    /// A value in a row, or a value that the mapping computed from values of the row.
    enum Item {
        case token(Int)
        case value(JSONValue)
    }

    /// The members that a mapping assigns to a relationship.
    struct MappedMembers {
        enum Content {
            case item(Item)
            /// The result of the functions for each element of an array. If `areInRow` is `true`, the array is a value in the row, so the
            /// index of a result is the position of the element in the row.
            case elements([Result<JSONValue, ConversionError>], areInRow: Bool)
        }

        let pointer: String
        let content: Result<Content, ConversionError>
    }

    /// Reads the attributes of an object. Keeps the relationships of the object in `given`, because relationships are read after all
    /// attributes. Without a mapping, the plan has one node, which leads from each name to its property.
    mutating func values(of token: Int, _ entity: RowEntity, _ tokens: JSONTokens) throws(RowFailure) {
        let plan = entity.plan
        if !entity.isMapped { return try walk(token, node: 0, entity, plan, tokens) }
        found.removeAll(keepingCapacity: true)
        for _ in plan.slots.indices { found.append(.absent) }
        try walk(token, node: 0, entity, plan, tokens)
        for reading in plan.readings { try read(reading, entity, plan, tokens) }
    }

    // MARK: Finding

    private mutating func walk(
        _ object: Int, node number: Int, _ entity: RowEntity, _ plan: ReadingPlan, _ tokens: JSONTokens
    ) throws(RowFailure) {
        let node = plan.nodes[number]
        var key = object + 1
        let end = tokens.next(object)
        var forms = OtherForms()
        while key < end {
            let value = key + 1
            var target = node.table.target(of: tokens.bytes(key))
            if target == nil, node.table.mayBeOtherForm(tokens.bytes(key)) { target = try otherForm(key, node.table, &forms, tokens) }
            switch target {
            case .attribute(let index):
                try attribute(entity, index, key, value, tokens)
            case .relationship(let index):
                given.append(Given(index: index, key: key, value: value))
            case .mapped(let index):
                try take(plan.keys[index], value, entity, plan, tokens)
            case nil:
                if key != discriminatorKey { try unknown(key, entity, tokens, at: node) }
            }
            key = tokens.next(value)
        }
        if !forms.keys.isEmpty { try check(forms, in: object, &node.table, tokens) }
    }

    private mutating func take(
        _ key: ReadingPlan.Key, _ value: Int, _ entity: RowEntity, _ plan: ReadingPlan, _ tokens: JSONTokens
    ) throws(RowFailure) {
        for (slot, isLiteral) in key.slots where isLiteral || !found[slot].isLiteral {
            found[slot] = .token(value, isLiteral: isLiteral)
        }
        guard let node = key.node else { return }
        if tokens.kind(value) == .object { return try walk(value, node: node, entity, plan, tokens) }
        for slot in plan.nodes[node].slots where !found[slot].isLiteral {
            found[slot] = tokens.kind(value) == .null ? .null(node: node) : .blocked(value, node: node)
        }
    }

    // MARK: Reading

    private mutating func read(
        _ reading: ReadingPlan.Reading, _ entity: RowEntity, _ plan: ReadingPlan, _ tokens: JSONTokens
    ) throws(RowFailure) {
        guard let (item, pointer) = item(of: reading.source, plan, tokens) else { return }
        switch reading.property {
        case .attribute(let index):
            let converted = item.flatMap { convert($0, entity.conversions[index].type, plan.conversions[index], tokens) }
            var token = 0
            if case .success(.token(let own)) = item { token = own }
            path.push(pointer: pointer)
            defer { path.pop() }
            try take(converted, entity, index, token, tokens, key: nil)
        case .relationship(let index):
            given.append(Given(index: index, key: mapped.count, value: -1))
            let isToMany = entity.ends[index].isToMany
            let content = item.flatMap { members($0, reading.functions, isToMany: isToMany, tokens) }
            mapped.append(MappedMembers(pointer: pointer, content: content))
        case .mapped: break
        }
    }

    /// Returns the value that the rule for a property finds in the row, and the JSON pointer to that value. If values cannot be joined,
    /// returns the pointer to the first value that no text can contain. Returns `nil` if the row has no value at the paths of the rule.
    private func item(
        of source: ReadingPlan.Source, _ plan: ReadingPlan, _ tokens: JSONTokens
    ) -> (item: Result<Item, ConversionError>, pointer: String)? {
        switch source {
        case .constant(let value): return (.success(.value(value)), "")
        case .first(let slots):
            var null: (item: Result<Item, ConversionError>, pointer: String)?
            for slot in slots {
                guard let next = item(in: slot, plan, tokens) else { continue }
                if !isNull(next.item, tokens) { return next }
                null = null ?? next
            }
            return null
        case .join(let slots, let separator):
            let present = slots.compactMap { item(in: $0, plan, tokens) }
            guard let first = present.first else { return nil }
            let values = present.map { $0.item.map { value($0, tokens) } }
            let text = joined(values, separator)
            guard case .failure = text else { return (text, first.pointer) }
            for (place, value) in values.enumerated() {
                let own = joined([value], separator)
                if case .failure = own { return (own, present[place].pointer) }
            }
            return (text, first.pointer)
        }
    }

    private func item(
        in slot: Int, _ plan: ReadingPlan, _ tokens: JSONTokens
    ) -> (item: Result<Item, ConversionError>, pointer: String)? {
        let place = plan.slots[slot]
        switch found[slot] {
        case .absent: return nil
        case .token(let token, let isLiteral): return (.success(.token(token)), isLiteral ? place.literalPointer : place.pointer)
        case .null(let node): return (.success(.value(.null)), plan.nodes[node].pointer)
        case .blocked(let token, let node):
            let what = Excerpt.described(JSONValue(tokens, token))
            let failure = ConversionError.unfit("expected an object on the path to '\(place.path)', but found \(what)")
            return (.failure(failure), plan.nodes[node].pointer)
        }
    }

    private func isNull(_ item: Result<Item, ConversionError>, _ tokens: JSONTokens) -> Bool {
        switch item {
        case .success(.token(let token)): tokens.kind(token) == .null
        case .success(.value(let value)): value == .null
        case .failure: false
        }
    }

    func value(_ item: Item, _ tokens: JSONTokens) -> JSONValue {
        switch item {
        case .token(let token): JSONValue(tokens, token)
        case .value(let value): value
        }
    }

    /// Joins the texts of the values that are not null; returns null if all are null.
    private func joined(_ values: [Result<JSONValue, ConversionError>], _ separator: String) -> Result<Item, ConversionError> {
        do {
            let values = try values.map { try $0.get() }.filter { $0 != .null }
            return .success(.value(values.isEmpty ? .null : .string(try ValueFunction.joined(values, separator))))
        } catch let mismatch as ValueFunction.Mismatch {
            return .failure(.unfit(mismatch.message))
        } catch {
            return .failure(error as? ConversionError ?? .unfit("the values cannot be joined"))
        }
    }

    private func apply(_ functions: [ValueFunction], _ item: Item, _ tokens: JSONTokens) -> Result<Item, ConversionError> {
        if functions.isEmpty { return .success(item) }
        return Result { () throws(ConversionError) in .value(try functions.apply(value(item, tokens))) }
    }

    // MARK: Converting

    /// Returns the stored form of the value that a mapping assigns to an attribute.
    mutating func convert(
        _ item: Item, _ type: AttributeType, _ conversion: ReadingPlan.Conversion?, _ tokens: JSONTokens
    ) -> Result<ScalarForm, ConversionError> {
        do throws(ConversionError) {
            switch try apply(conversion?.functions ?? [], item, tokens).get() {
            case .token(let token):
                let kind = tokens.kind(token)
                if readsTexts, kind == .string, isNull(tokens.bytes(token), type) { return .success(.null) }
                let form = try conversion?.form(tokens.bytes(token), kind == .string, kind == .number, type, scratch: &scratch)
                if let form { return .success(form) }
                return convert(type, token, tokens)
            case .value(.string(let text)) where readsTexts && (conversion?.hasFormat != true || text.isEmpty):
                return .success(try form(ofCopied: text, type))
            case .value(let value): return .success(try type.scalarForm(value, conversion, scratch: &scratch))
            }
        } catch {
            return .failure(error)
        }
    }
}

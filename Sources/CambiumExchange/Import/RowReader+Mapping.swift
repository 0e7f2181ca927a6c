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

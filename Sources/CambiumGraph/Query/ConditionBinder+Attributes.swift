import CambiumModel

extension ConditionBinder {
    /// Returns the condition node for a comparison of an attribute with constants.
    func bind(_ attribute: Attribute, _ test: ConstantTest) throws(QueryMistake) -> ConditionNode {
        let field = layout.field(attribute)
        guard field.table >= 0 else { return ConstantNode(false) }
        let presence = PresenceNode(field.slot, field.kind)
        if test.isNull {
            switch test.relation {
            case .equal:
                let node = NotNode(presence)
                node.match = ColumnMatch(attribute: attribute.number, values: .equal([.null]), isFolded: false)
                return node
            case .notEqual: return presence
            default: return ConstantNode(false)
            }
        }
        try checkEnumeration(attribute, test)
        let node = try present(attribute, field, test)
        return test.relation == .notEqual ? NotNode(node) : node
    }

    /// Returns the node for a comparison with constants that are not null. For `!=`, returns the node for `==`, which the caller negates.
    private func present(_ attribute: Attribute, _ field: Field, _ test: ConstantTest) throws(QueryMistake) -> ConditionNode {
        switch attribute.type {
        case .int16, .int32, .int64, .float, .double, .decimal: return try number(attribute, field, test)
        case .date: return try date(attribute, field, test)
        case .bool: return try bool(attribute, field, test)
        case .uuid: return try fixedSet(attribute, field, test)
        case .data: return try data(attribute, field, test)
        case .string, .uri, .json: return try text(attribute, field, test)
        }
    }

    /// Throws the error for a constant that is not a value of the attribute's type.
    private func refuse<Result>(
        _ attribute: Attribute, _ literal: QueryLiteral, _ test: ConstantTest, _ wanted: String
    ) throws(QueryMistake) -> Result {
        let found = self.text(of: literal)
        throw QueryMistake(
            "'\(attribute.name)' is of type \(attribute.type.rawValue). Compare it with \(wanted), not with \(found).", at: test.offset)
    }

    private func refuseRelation<Result>(_ attribute: Attribute, _ test: ConstantTest, _ wanted: String) throws(QueryMistake) -> Result {
        throw QueryMistake(
            "'\(attribute.name)' is of type \(attribute.type.rawValue), which '\(test.relation.text)' cannot compare. Use \(wanted).",
            at: test.offset)
    }

    /// Refuses an equality that no value of an `enum` satisfies.
    private func checkEnumeration(_ attribute: Attribute, _ test: ConstantTest) throws(QueryMistake) {
        guard [.equal, .notEqual, .isIn].contains(test.relation), test.folding.isEmpty, attribute.constraints.allowed != nil else { return }
        for literal in test.present {
            guard let value = literal.value(of: attribute.type), let list = attribute.constraints.allowedList(without: value)
            else { continue }
            throw QueryMistake(
                "'\(attribute.name)' never has the value \(text(of: literal)). Compare it with one of its values: \(list).",
                at: test.offset)
        }
    }

    /// The relations that compare numbers and dates, for messages.
    private static let ordersText = "==, !=, <, <=, >, >=, in or between"

    /// Refuses a relation that compares only texts. This check precedes those of the constants, because no constant fits this relation.
    private func checkOrders(_ attribute: Attribute, _ test: ConstantTest) throws(QueryMistake) {
        switch test.relation {
        case .contains, .beginsWith, .endsWith, .like, .matches: return try refuseRelation(attribute, test, Self.ordersText)
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .isIn, .isBetween: break
        }
    }

    // MARK: Numbers

    private func number(_ attribute: Attribute, _ field: Field, _ test: ConstantTest) throws(QueryMistake) -> ConditionNode {
        try checkOrders(attribute, test)
        var numbers: [LiteralNumber] = []
        numbers.reserveCapacity(test.present.count)
        for literal in test.present {
            guard let number = literal.number else { return try refuse(attribute, literal, test, "a number") }
            numbers.append(number)
        }
        do throws(NumberMistake) {
            if test.relation == .isIn {
                var nodes: [ConditionNode] = []
                let different = Dictionary(numbers.map { ($0.text, $0) }) { first, _ in first }
                for (_, number) in different.sorted(by: { $0.key < $1.key }) {
                    nodes.append(try node(attribute, field, NumberLimits(equal: number)))
                }
                return joined(nodes, attribute)
            }
            if let first = numbers.first, let last = numbers.last, let limits = test.limits(first, last) {
                return try node(attribute, field, limits)
            }
        } catch {
            throw QueryMistake(error.message, at: test.offset)
        }
        return try refuseRelation(attribute, test, Self.ordersText)
    }

    /// Combines the conditions for the elements of a list into one condition, so that the planner can look up all values in an index
    /// together.
    private func joined(_ nodes: [ConditionNode], _ attribute: Attribute) -> ConditionNode {
        var values: [Value] = []
        for node in nodes {
            if let constant = node as? ConstantNode, !constant.isTrue { continue }
            guard let match = node.match, case .equal(let more) = match.values else { return OrNode(nodes) }
            values += more
        }
        let joined = nodes.count > Self.comparedCountMax ? set(values, attribute) : OrNode(nodes)
        joined.match = ColumnMatch(attribute: attribute.number, values: .equal(Array(Set(values))), isFolded: false)
        return joined
    }

    /// The maximum number of values of a list that are compared one by one. More values are put into a set.
    static let comparedCountMax = 8

    /// Returns the condition that an attribute has one of these values.
    private func set(_ values: [Value], _ attribute: Attribute) -> ConditionNode {
        let field = layout.field(attribute)
        var fixed: Set<SIMD2<UInt64>> = []
        var texts: Set<[UInt8]> = []
        for value in values {
            switch StoredForm(value, type: attribute.type) {
            case .fixed(let low, let high)?:
                fixed.insert(SIMD2(low, high))
                // 0.0 and -0.0 are equal but have different bits, so the set must contain both.
                let zero = attribute.type.negativeZero
                if zero != 0, low == 0 || low == zero { fixed.formUnion([SIMD2(0, 0), SIMD2(zero, 0)]) }
            case .bytes(let bytes)?: texts.insert(bytes)
            case nil: break
            }
        }
        guard case .fixed(let width) = field.kind else { return TextNode(field.slot, .isIn(texts)) }
        return FixedSetNode(field.slot, width: width, fixed)
    }

    private func node(_ attribute: Attribute, _ field: Field, _ limits: NumberLimits) throws(NumberMistake) -> ConditionNode {
        switch attribute.type {
        case .int16: return ranged(attribute, field, try limits.whole(Int16.self), ColumnRange.int16) { .int(Int64($0)) }
        case .int32: return ranged(attribute, field, try limits.whole(Int32.self), ColumnRange.int32) { .int(Int64($0)) }
        case .int64: return ranged(attribute, field, try limits.whole(Int64.self), ColumnRange.int64) { .int($0) }
        case .float: return ranged(attribute, field, try limits.real(Float.self), ColumnRange.float) { .float($0) }
        case .double: return ranged(attribute, field, try limits.real(Double.self), ColumnRange.double) { .double($0) }
        default:
            guard let range = try limits.decimal() else { return ConstantNode(false) }
            let node = TextNode(field.slot, .decimal(range))
            let lower = range.lower.map { ColumnMatch.Limit(.decimal($0), isIncluded: range.isLowerIncluded) }
            let upper = range.upper.map { ColumnMatch.Limit(.decimal($0), isIncluded: range.isUpperIncluded) }
            let isOne = range.lower != nil && range.lower == range.upper && range.isLowerIncluded && range.isUpperIncluded
            let values: ColumnMatch.Values = isOne ? .equal([range.lower.map { .decimal($0) } ?? .null]) : .between(lower, upper)
            node.match = ColumnMatch(attribute: attribute.number, values: values, isFolded: false)
            return node
        }
    }

    private func ranged<T: Comparable>(
        _ attribute: Attribute, _ field: Field, _ range: (T, T)?, _ column: (T, T) -> ColumnRange, _ value: (T) -> Value
    ) -> ConditionNode {
        guard let (low, high) = range else { return ConstantNode(false) }
        let node = NumberNode(field.slot, column(low, high))
        let limits = (ColumnMatch.Limit(value(low), isIncluded: true), ColumnMatch.Limit(value(high), isIncluded: true))
        let values: ColumnMatch.Values = low == high ? .equal([value(low)]) : .between(limits.0, limits.1)
        node.match = ColumnMatch(attribute: attribute.number, values: values, isFolded: false)
        return node
    }

    // MARK: Other types of fixed width

    private func date(_ attribute: Attribute, _ field: Field, _ test: ConstantTest) throws(QueryMistake) -> ConditionNode {
        try checkOrders(attribute, test)
        var seconds: [Double] = []
        for literal in test.present {
            guard case .date(let date)? = literal.value(of: .date) else {
                let wanted = literal.stringText.map(DateText.wanted(insteadOf:)) ?? AttributeType.date.wanted
                return try refuse(attribute, literal, test, wanted)
            }
            seconds.append(date.timeIntervalSinceReferenceDate + 0)
        }
        func node(_ low: Double, _ high: Double) -> ConditionNode {
            ranged(attribute, field, low <= high ? (low, high) : nil, ColumnRange.double) {
                .date(.init(timeIntervalSinceReferenceDate: $0))
            }
        }
        if test.relation == .isIn { return joined(Set(seconds).sorted().map { node($0, $0) }, attribute) }
        guard let first = seconds.first, let last = seconds.last else { return ConstantNode(false) }
        switch test.relation {
        case .equal, .notEqual: return node(first, first)
        case .less: return node(-.infinity, first.nextDown)
        case .lessOrEqual: return node(-.infinity, first)
        case .greater: return node(first.nextUp, .infinity)
        case .greaterOrEqual: return node(first, .infinity)
        case .isBetween: return node(first, last)
        default: return try refuseRelation(attribute, test, Self.ordersText)
        }
    }

    private func bool(_ attribute: Attribute, _ field: Field, _ test: ConstantTest) throws(QueryMistake) -> ConditionNode {
        guard [.equal, .notEqual, .isIn].contains(test.relation) else { return try refuseRelation(attribute, test, "== or !=") }
        var nodes: [ConditionNode] = []
        for literal in test.present {
            guard let value = literal.boolValue else { return try refuse(attribute, literal, test, "true or false") }
            let byte: UInt8 = value ? 1 : 0
            nodes.append(ranged(attribute, field, (byte, byte), ColumnRange.uint8) { .bool($0 == 1) })
        }
        return nodes.count == 1 ? nodes[0] : joined(nodes, attribute)
    }

    private func fixedSet(_ attribute: Attribute, _ field: Field, _ test: ConstantTest) throws(QueryMistake) -> ConditionNode {
        guard [.equal, .notEqual, .isIn].contains(test.relation) else { return try refuseRelation(attribute, test, "==, != or in") }
        var forms: Set<SIMD2<UInt64>> = []
        var values: [Value] = []
        for literal in test.present {
            guard let value = literal.value(of: .uuid), case .fixed(let low, let high)? = StoredForm(value, type: .uuid) else {
                return try refuse(attribute, literal, test, "a UUID")
            }
            if forms.insert(SIMD2(low, high)).inserted { values.append(value) }
        }
        let node = FixedSetNode(field.slot, width: 16, forms)
        node.match = ColumnMatch(attribute: attribute.number, values: .equal(values), isFolded: false)
        return node
    }

    private func data(_ attribute: Attribute, _ field: Field, _ test: ConstantTest) throws(QueryMistake) -> ConditionNode {
        guard [.equal, .notEqual, .isIn].contains(test.relation) else { return try refuseRelation(attribute, test, "==, != or in") }
        var wanted: Set<[UInt8]> = []
        for literal in test.present {
            guard case .data(let bytes)? = literal.value(of: .data) else {
                return try refuse(attribute, literal, test, "a string in base64")
            }
            wanted.insert(bytes)
        }
        return TextNode(field.slot, .isIn(wanted))
    }
}

import CambiumModel

/// A way to read the objects of an ordered index in the order of a query.
///
/// The condition states one value for each of the first components of the index, the leading ones. The next components are the first sort
/// keys of the query. For `where state == "open" sort -n`, the index `["state", "n"]` has one leading value and one level.
struct IndexOrder {
    /// A component of the index that is a sort key.
    struct Level {
        /// The number of sort keys up to this one.
        let keyCount: Int
        /// Whether the query wants the values of this component in the reverse order of the index.
        let isReversed: Bool
        let nullsFirst: Bool
        /// Whether the query wants null at the other end of the values than the index.
        let isNullMoved: Bool
    }

    let index: OrderedIndex
    let leading: [Value]
    let levels: [Level]
    /// The parts of the index that contain the answer, in the order of the index.
    let ranges: [IndexRange]
    /// Whether all objects of the ranges satisfy the condition.
    let isExact: Bool
    /// Whether the index has the order of only the first sort keys.
    private let isPartial: Bool
    /// Whether all objects of the ranges have the same value of each sort key that is not a level. Otherwise, only the objects of the
    /// answer have the same values.
    let hasSameKeys: Bool

    /// Whether the components of the index are the leading ones and the sort keys. Then objects with equal sort keys have equal keys in the
    /// index, which sorts them by their ids.
    var isWhole: Bool { !isPartial && leading.count + levels.count == index.components.count }
    var count: Int { ranges.reduce(0) { $0 + $1.outer.count } }

    /// Returns `nil` if the index does not help to sort.
    ///
    /// - Parameter parts: The conditions that an object of the answer must satisfy.
    /// - Parameter matches: The values that these conditions state.
    init?(_ index: OrderedIndex, _ keys: [SortSpecification.Key], _ parts: [ConditionNode], _ matches: [ColumnMatch]) {
        let leading = index.components.prefixValues { matches.onlyValue(of: $0.attribute, isFolded: $0.comparison == .folded) }
        var levels: [Level] = []
        var (isPartial, hasSameKeys) = (false, true)
        let stated = Set(index.components.prefix(leading.count).map(\.attribute))
        for (number, key) in keys.enumerated() {
            // A sort key that is the same in all objects of the answer does not affect their order.
            if let field = key.field, matches.isConstant(field.property, key.folding) {
                hasSameKeys = hasSameKeys && stated.contains(field.property)
                continue
            }
            guard let field = key.field, leading.count + levels.count < index.components.count,
                case let component = index.components[leading.count + levels.count], field.property == component.attribute,
                key.folding == (component.comparison == .folded ? .caseInsensitive : [])
            else {
                isPartial = true
                break
            }
            // A condition that states values of an attribute is false for null.
            let hasNull = !matches.contains { $0.attribute == field.property && !$0.isOfNull }
            levels.append(
                Level(
                    keyCount: number + 1, isReversed: key.isDescending != (component.direction == .descending), nullsFirst: key.nullsFirst,
                    isNullMoved: hasNull && key.nullsFirst == key.isDescending))
        }
        if levels.isEmpty, isPartial || leading.isEmpty || leading.count < index.components.count { return nil }
        (self.index, self.leading, self.levels) = (index, leading, levels)
        (self.isPartial, self.hasSameKeys) = (isPartial, hasSameKeys)
        let ranged = levels.isEmpty ? nil : matches.ranged(index.components[leading.count])
        guard let ranges = Self.ranges(index, leading, ranged?.values(within: matches)) else { return nil }
        self.ranges = ranges
        isExact = parts.allSatisfy { part in
            guard let match = part.match else { return false }
            let isOnly = matches.count { $0.attribute == match.attribute } == 1
            if stated.contains(match.attribute), isOnly { return true }
            guard let ranged, ranged.attribute == match.attribute, ranged.isFolded == match.isFolded else { return false }
            return isOnly ? !match.isPrefix : match.isRange && !match.isFolded
        }
    }

    private static func ranges(_ index: OrderedIndex, _ leading: [Value], _ values: ColumnMatch.Values?) -> [IndexRange]? {
        if let values {
            return index.ranges(values, after: leading, isDescending: index.components[leading.count].direction == .descending)
        }
        return leading.isEmpty ? [index.all] : index.range(equalTo: leading).map { [$0] }
    }

    /// Returns whether this order is probably cheaper than another one: it reads a smaller part of its index, or knows the order of objects
    /// with equal sort keys.
    func isBetter(than other: IndexOrder) -> Bool {
        if count != other.count { return count < other.count }
        return isWhole != other.isWhole ? isWhole : index.components.count < other.index.components.count
    }
}

extension [EntityIndex.Component] {
    /// Returns the values of the first components, up to the first component that has no value.
    fileprivate func prefixValues(_ value: (EntityIndex.Component) -> Value?) -> [Value] {
        var values: [Value] = []
        for component in self {
            guard let value = value(component) else { break }
            values.append(value)
        }
        return values
    }
}

extension [ColumnMatch] {
    /// Returns the only value that the conditions allow for an attribute; `nil` if they allow several values.
    fileprivate func onlyValue(of attribute: PropertyNumber, isFolded: Bool) -> Value? {
        for match in self where match.attribute == attribute && (match.isFolded == isFolded || match.isOfNull) {
            if case .equal(let values) = match.values, values.count == 1 { return values[0] }
        }
        return nil
    }

    /// Returns whether all objects that satisfy the conditions have the same sort key.
    fileprivate func isConstant(_ attribute: PropertyNumber, _ folding: Folding) -> Bool {
        onlyValue(of: attribute, isFolded: false) != nil
            || folding == .caseInsensitive && onlyValue(of: attribute, isFolded: true) != nil
    }

    /// Returns the condition that restricts a component of an index; a list of values rather than a range.
    fileprivate func ranged(_ component: EntityIndex.Component) -> ColumnMatch? {
        let own = filter { $0.attribute == component.attribute && $0.isFolded == (component.comparison == .folded) }
        return own.first { if case .equal = $0.values { true } else { false } } ?? own.first
    }
}

extension ColumnMatch {
    /// Whether the only value is null.
    var isOfNull: Bool { if case .equal(let values) = values { values.count == 1 && values[0].isNull } else { false } }
    fileprivate var isPrefix: Bool { if case .prefix = values { true } else { false } }
    fileprivate var isRange: Bool { if case .between = values { true } else { false } }
}

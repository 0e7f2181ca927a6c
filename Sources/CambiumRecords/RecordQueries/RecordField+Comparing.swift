// The operators of conditions. As in the query language, null equals only null, and is neither less nor greater than any value.

private func compare(_ left: Operand, _ relation: Comparison.Relation, _ right: Operand, _ folding: Folding = []) -> Condition {
    .comparison(Comparison(left, relation, right, folding: folding))
}

extension RecordField where V.ComparedValue: AttributeValue {
    /// Whether the value equals a constant. Null equals `nil`.
    public static func == (left: Self, right: V.ComparedValue?) -> Condition {
        compare(left.operand, .equal, .value(right?.attributeValue ?? .null))
    }
    /// Whether the value differs from a constant. Null differs from every constant except `nil`.
    public static func != (left: Self, right: V.ComparedValue?) -> Condition {
        compare(left.operand, .notEqual, .value(right?.attributeValue ?? .null))
    }
    public static func < (left: Self, right: V.ComparedValue) -> Condition {
        compare(left.operand, .less, .value(right.attributeValue))
    }
    public static func <= (left: Self, right: V.ComparedValue) -> Condition {
        compare(left.operand, .lessOrEqual, .value(right.attributeValue))
    }
    public static func > (left: Self, right: V.ComparedValue) -> Condition {
        compare(left.operand, .greater, .value(right.attributeValue))
    }
    public static func >= (left: Self, right: V.ComparedValue) -> Condition {
        compare(left.operand, .greaterOrEqual, .value(right.attributeValue))
    }

    public static func == (left: Self, right: Self) -> Condition { compare(left.operand, .equal, right.operand) }
    public static func != (left: Self, right: Self) -> Condition { compare(left.operand, .notEqual, right.operand) }
    public static func < (left: Self, right: Self) -> Condition { compare(left.operand, .less, right.operand) }
    public static func <= (left: Self, right: Self) -> Condition { compare(left.operand, .lessOrEqual, right.operand) }
    public static func > (left: Self, right: Self) -> Condition { compare(left.operand, .greater, right.operand) }
    public static func >= (left: Self, right: Self) -> Condition { compare(left.operand, .greaterOrEqual, right.operand) }

    /// Whether the value is one of several values.
    public func isIn(_ values: some Sequence<V.ComparedValue>) -> Condition {
        compare(operand, .isIn, .values(values.map(\.attributeValue)))
    }
    /// Whether the value lies between two values, or equals one of them.
    public func isBetween(_ least: V.ComparedValue, and greatest: V.ComparedValue) -> Condition {
        compare(operand, .isBetween, .values([least.attributeValue, greatest.attributeValue]))
    }
}

// MARK: Objects

extension RecordField where V._Target: EntityRecord {
    /// Whether the relationship leads to the object that a ref names, or to no object if the ref is `nil`.
    public static func == (left: Self, right: Ref<V._Target>?) -> Condition {
        compare(left.operand, .equal, right.map { Operand.object($0.id) } ?? .value(.null))
    }
    /// Whether the relationship leads to an object other than the one that a ref names, or to any object if the ref is `nil`. A
    /// relationship that leads to no object differs from every ref.
    public static func != (left: Self, right: Ref<V._Target>?) -> Condition {
        compare(left.operand, .notEqual, right.map { Operand.object($0.id) } ?? .value(.null))
    }

    /// Whether the relationship leads to an object that one of the refs names.
    public func isIn(_ refs: some Sequence<Ref<V._Target>>) -> Condition { compare(operand, .isIn, .objects(refs.map(\.id))) }
}

extension RecordField where V._Member: EntityRecord {
    /// Whether the object that a ref names is a member of the relationship.
    public func contains(_ ref: Ref<V._Member>) -> Condition { compare(operand, .contains, .object(ref.id)) }
}

// MARK: Texts

extension RecordField where V.ComparedValue == String {
    /// Whether the text contains another text.
    public func contains(_ text: String, _ folding: Folding = []) -> Condition {
        compare(operand, .contains, .value(.string(text)), folding)
    }
    /// Whether the text begins with another text.
    public func hasPrefix(_ text: String, _ folding: Folding = []) -> Condition {
        compare(operand, .beginsWith, .value(.string(text)), folding)
    }
    /// Whether the text ends with another text.
    public func hasSuffix(_ text: String, _ folding: Folding = []) -> Condition {
        compare(operand, .endsWith, .value(.string(text)), folding)
    }
    /// Whether the texts are equal, except for differences that the folding ignores.
    public func equals(_ text: String, _ folding: Folding) -> Condition { compare(operand, .equal, .value(.string(text)), folding) }
    /// Whether the text matches a pattern in which `*` matches any characters and `?` matches one character.
    public func isLike(_ pattern: String, _ folding: Folding = []) -> Condition {
        compare(operand, .like, .value(.string(pattern)), folding)
    }
    /// Whether the text as a whole matches a regular expression in RE2 syntax. A query with a pattern that is not valid throws
    /// `.invalidInput`.
    public func matches(_ pattern: String, _ folding: Folding = []) -> Condition {
        compare(operand, .matches, .value(.string(pattern)), folding)
    }
}

// MARK: Logic

extension Condition {
    /// Whether both conditions are true.
    public static func && (left: Condition, right: Condition) -> Condition { .and(left.parts(of: true) + right.parts(of: true)) }
    /// Whether at least one of the conditions is true.
    public static func || (left: Condition, right: Condition) -> Condition { .or(left.parts(of: false) + right.parts(of: false)) }
    /// Whether the condition is false.
    public static prefix func ! (condition: Condition) -> Condition { .not(condition) }

    /// Returns the parts of an `and` (if `isConjunction` is true) or of an `or`, or the condition itself if it has another form. So a long
    /// chain of operators becomes one flat list instead of deep nesting.
    private func parts(of isConjunction: Bool) -> [Condition] {
        switch form {
        case .and(let parts) where isConjunction: parts
        case .or(let parts) where !isConjunction: parts
        default: [self]
        }
    }
}

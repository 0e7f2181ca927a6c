import CambiumModel

/// The constants of a list after `in`. They are converted once for each type of the values on the left side. So a test of a value usually
/// takes O(1), however long the list is.
final class ConstantList {
    private var constants: [ListedType: Constants] = [:]

    /// Returns whether a value equals one of the constants. Null equals none of them.
    ///
    /// - Parameter converted: Returns the constants in the form in which they are compared with the value. The method calls this closure
    ///   once for each type of values.
    func contains<Failure: Error>(
        _ value: QueryValue, _ folding: Folding, _ converted: () throws(Failure) -> [QueryValue]
    ) throws(Failure) -> Bool {
        if value.isNull { return false }
        let type = ListedType(value)
        if let known = constants[type] { return known.contain(value, folding) }
        let fresh = Constants(try converted(), type, folding)
        constants[type] = fresh
        return fresh.contain(value, folding)
    }

    /// The type of a value, as far as it determines how constants are converted for a comparison with the value. All texts count as one
    /// type, and whole numbers count as decimal numbers. For an object, its root entity decides.
    private struct ListedType: Hashable {
        private let type: AttributeType?
        private let root: EntityNumber?

        init(_ value: QueryValue) {
            switch value {
            case .value(.int): (type, root) = (.decimal, nil)
            case .value(let value): (type, root) = (value.comparedText == nil ? value.attributeType : .string, nil)
            case .object(let id): (type, root) = (nil, id.root)
            case .list: (type, root) = (nil, nil)
            }
        }
    }

    /// The constants that are not null, converted for values of one type.
    private struct Constants {
        private var values: Set<QueryValue> = []
        /// The constants of another type, such as a double that is compared with whole numbers. These constants are not in the hash table,
        /// so a value is compared with each of them.
        private var others: [QueryValue] = []

        init(_ constants: [QueryValue], _ type: ListedType, _ folding: Folding) {
            for constant in constants where !constant.isNull {
                let folded = constant.folded(folding)
                if ListedType(folded) == type, let value = folded.hashed { values.insert(value) } else { others.append(folded) }
            }
        }

        func contain(_ value: QueryValue, _ folding: Folding) -> Bool {
            if let hashed = value.folded(folding).hashed, values.contains(hashed) { return true }
            return ValueTest(.isIn, folding).holds(value, others)
        }
    }
}

extension QueryValue {
    /// The value in a form for a hash table. Two values of one `ListedType` have equal forms if and only if they are equal in conditions.
    /// `nil` for NaN, which equals no value.
    fileprivate var hashed: QueryValue? {
        guard case .value(let value) = self else { return self }
        switch value {
        case .int(let number): return .value(.decimal(DecimalNumber(number)))
        case .float(let number) where number.isNaN: return nil
        case .double(let number) where number.isNaN: return nil
        case .string(let text), .uri(let text), .json(let text): return .value(.string(text))
        default: return .value(value.withoutNegativeZero)
        }
    }
}

import CambiumBytes
import CambiumModel

/// The values to which a to-many relationship leads from a hub, prepared for comparisons with one value after another.
///
/// All values have one type, and none is a NaN, which no attribute can have. So their order is total. A value of another type has one place
/// in this order. For example, a decimal number follows the lesser doubles, and precedes the greater ones.
struct HubValues {
    /// Values other than null, ascending: all different ones if equality is compared, otherwise the least and the greatest value.
    private let values: [Value]
    private let hasNull: Bool
    private let relation: Comparison.Relation
    private let folding: Folding
    /// The memory for the values if equality is compared, otherwise 0.
    let byteCount: Int

    /// Returns `nil` if the values take more memory than `byteCountMax`.
    init?(_ reader: PathReader, _ row: UInt32, _ relation: Comparison.Relation, _ folding: Folding, byteCountMax: Int) {
        self.relation = relation
        self.folding = folding
        var (found, foundNull): ([Value], Bool) = ([], false)
        var (different, differentByteCount): (Set<Value>, Int) = ([], 0)
        let keepsAll = Self.comparesEquality(relation)
        let isComplete = reader.visit(row) { value in
            guard let value = Self.sortable(value, folding) else {
                foundNull = true
                return true
            }
            if keepsAll {
                if different.insert(value).inserted { differentByteCount += value.heldByteCount }
                return differentByteCount <= byteCountMax
            }
            if found.count < 2 {
                found.append(value)
                found.sort(by: Self.precedes)
            } else if Self.precedes(value, found[0]) {
                found[0] = value
            } else if Self.precedes(found[1], value) {
                found[1] = value
            }
            return true
        }
        guard isComplete else { return nil }
        values = keepsAll ? different.sorted(by: Self.precedes) : found
        hasNull = foundNull
        byteCount = differentByteCount
    }

    /// Whether all values are kept.
    static func comparesEquality(_ relation: Comparison.Relation) -> Bool { [.equal, .notEqual, .isIn].contains(relation) }

    /// Returns the value in the form in which it is sorted and compared. Returns `nil` for null. Objects are compared only for equality, so
    /// the number of an object's id replaces the object.
    private static func sortable(_ value: QueryValue, _ folding: Folding) -> Value? {
        switch value.folded(folding) {
        case .value(let value): value.isNull ? nil : value
        case .object(let id): .int(Int64(bitPattern: id.rawValue))
        case .list: nil
        }
    }

    private static func precedes(_ left: Value, _ right: Value) -> Bool { left.order(right).map { $0 < 0 } ?? false }

    /// Returns whether at least one value has the relation to `right`. Complexity: O(log values) for equality, otherwise O(1).
    func anyHolds(_ right: QueryValue) -> Bool {
        guard let least = values.first, let greatest = values.last else { return hasNull && nullHolds(right) }
        if hasNull, nullHolds(right) { return true }
        guard let right = Self.sortable(right, folding) else { return relation == .notEqual }
        switch relation {
        case .equal, .isIn: return contains(right)
        case .notEqual: return least.order(right) != 0 || greatest.order(right) != 0
        case .less, .lessOrEqual: return holds(least, right)
        default: return holds(greatest, right)
        }
    }

    /// Returns whether each value has the relation to `right`. Complexity: as for `anyHolds(_:)`.
    func allHold(_ right: QueryValue) -> Bool {
        if hasNull, !nullHolds(right) { return false }
        guard let least = values.first, let greatest = values.last else { return true }
        guard let right = Self.sortable(right, folding) else { return relation == .notEqual }
        switch relation {
        case .equal, .isIn: return least.order(right) == 0 && greatest.order(right) == 0
        case .notEqual: return !contains(right)
        case .less, .lessOrEqual: return holds(greatest, right)
        default: return holds(least, right)
        }
    }

    private func nullHolds(_ right: QueryValue) -> Bool { ValueTest(relation, folding).holds(.null, [right]) }

    private func holds(_ left: Value, _ right: Value) -> Bool {
        guard let order = left.order(right) else { return false }
        return switch relation {
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        default: order >= 0
        }
    }

    private func contains(_ value: Value) -> Bool {
        let place = values.indices.prefixEnd { Self.precedes(values[$0], value) }
        return place < values.count && values[place].order(value) == 0
    }
}

extension Value {
    /// The memory that the value takes in an array, with the bytes of a text or of data.
    fileprivate var heldByteCount: Int {
        let bytes = if case .data(let data) = self { data.count } else { comparedText?.utf8.count ?? 0 }
        return MemoryLayout<Value>.stride + bytes
    }
}

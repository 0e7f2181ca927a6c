import CambiumModel

/// Computes the values of derived attributes.
extension Reader {
    /// Returns the value that a derived attribute of an object must have.
    ///
    /// The value depends only on the set of members, not their order, because a replay may link members of an unordered relationship in
    /// another order. Complexity: O(1) for a count, O(bytes) for a folded text, otherwise O(members * log(members)).
    ///
    /// - Throws: `.limitExceeded` if the attribute cannot hold the value.
    func derivedValue(_ column: DerivedColumn, _ row: UInt32) throws(CambiumError) -> Value {
        switch column.function {
        case .count:
            let count = column.members.map { memberCount($0, owner: row) } ?? 0
            guard let value = Value(Int128(count), column.attribute.type) else { throw overflow(column) }
            return value
        case .folded: return foldedText(column, row)
        case .sum:
            var sum = DerivedSum(column.attribute.type)
            forEachSource(column, row) { sum.add($0) }
            guard let total = sum.total else { throw overflow(column) }
            return total
        case .min, .max:
            var best = Value.null
            forEachSource(column, row) { value in
                if best.isNull || (column.function == .min ? value.precedes(best) : best.precedes(value)) { best = value }
            }
            return best.withoutNegativeZero
        }
    }

    private func foldedText(_ column: DerivedColumn, _ row: UInt32) -> Value {
        guard let source = column.source else { return .null }
        return rows(source.table).withCell(row, source.slot, source.kind) { cell in
            if cell.kind == .null { return .null }
            let folding: Folding = [.caseInsensitive, .diacriticInsensitive]
            return folding.withFolded(cell.bytes) { .string(String(decoding: $0, as: UTF8.self)) }
        }
    }

    /// Calls `body` with the value of the source attribute in each member, except nulls. The source is the attribute that the expression
    /// reads.
    private func forEachSource(_ column: DerivedColumn, _ row: UInt32, _ body: (Value) -> Void) {
        guard let source = column.source, let members = column.members else { return }
        let rows = rows(source.table)
        forEachMember(members, owner: row) { member in
            let form: StoredForm? = rows.withCell(member, source.slot, source.kind) { cell in
                switch cell.kind {
                case .null: nil
                case .fixed: .fixed(cell.low, cell.high)
                case .bytes: .bytes([UInt8](cell.bytes))
                }
            }
            if let form, let value = Value(stored: form, type: source.type) { body(value) }
        }
    }

    private func overflow(_ column: DerivedColumn) -> CambiumError {
        CambiumError(.limitExceeded, "The value of '\(column.attribute.name)' is too large. Change the values that it is derived from.")
    }
}

/// Adds up numbers. The sum does not depend on the order in which the numbers are added. Floating-point numbers are sorted first, and the
/// sum of other numbers is exact.
struct DerivedSum {
    private let type: AttributeType
    private var whole: Int128 = 0
    private var reals: [Double] = []
    private var decimal = DecimalSum()

    /// - Parameter type: The type of the sum: a whole number, `double` or `decimal`.
    init(_ type: AttributeType) { self.type = type }

    mutating func add(_ value: Value) {
        switch value {
        case .int(let number): whole += Int128(number)
        case .float(let number): reals.append(Double(number))
        case .double(let number): reals.append(number)
        case .decimal(let number): decimal.add(number)
        default: break
        }
    }

    /// The sum, or `nil` if its type cannot hold it. Complexity: O(numbers * log(numbers)) for floating-point numbers, otherwise O(1).
    var total: Value? {
        switch type {
        case .double: realTotal
        case .decimal: decimal.number.map { .decimal($0) }
        default: Value(whole, type)
        }
    }

    /// The sum of the floating-point numbers, which are added in ascending order.
    private var realTotal: Value? {
        var sum = RealSum()
        for number in reals.sorted() { sum.add(number) }
        let total = sum.total
        return total.isFinite ? .double(total + 0) : nil
    }
}

extension Value {
    /// Creates a value of a type of whole numbers. Returns `nil` if the type cannot hold the number.
    fileprivate init?(_ number: Int128, _ type: AttributeType) {
        let isHeld =
            switch type {
            case .int16: Int16(exactly: number) != nil
            case .int32: Int32(exactly: number) != nil
            default: Int64(exactly: number) != nil
            }
        guard isHeld else { return nil }
        self = .int(Int64(truncatingIfNeeded: number))
    }
}

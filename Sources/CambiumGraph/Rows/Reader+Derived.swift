import CambiumModel

/// Computes the values of derived attributes.
extension Reader {
    /// Returns the value that a derived attribute of an object must have.
    ///
    /// The value depends only on the set of members, not their order, because a replay may link members of an unordered relationship in
    /// another order. Complexity: O(1) for a count, O(bytes) for a folded text, otherwise O(members).
    ///
    /// - Throws: `.limitExceeded` if the attribute cannot hold the value.
    func derivedValue(_ column: DerivedColumn, _ row: UInt32) throws(CambiumError) -> Value {
        try value(readAll(column, row), column)
    }

    /// Returns a derived value as the attribute stores it. Throws `.limitExceeded` if the attribute cannot hold the value.
    func value(_ derived: DerivedValue, _ column: DerivedColumn) throws(CambiumError) -> Value {
        switch derived {
        case .value(let value): return value
        case .sum(let sum):
            guard let total = sum.total else { throw overflow(column) }
            return total
        }
    }

    /// Computes the value of a derived attribute from all members of an object.
    func readAll(_ column: DerivedColumn, _ row: UInt32) throws(CambiumError) -> DerivedValue {
        switch column.function {
        case .count:
            let count = column.members.map { memberCount($0, owner: row) } ?? 0
            guard let value = Value(Int128(count), column.attribute.type) else { throw overflow(column) }
            return .value(value)
        case .folded: return .value(foldedText(column, row))
        case .sum:
            var sum = DerivedSum(column.attribute.type)
            forEachSource(column, row) { sum.add($0) }
            return .sum(sum)
        case .min, .max:
            var best = Value.null
            forEachSource(column, row) { value in
                if best.isNull || (column.function == .min ? value.precedes(best) : best.precedes(value)) { best = value }
            }
            return .value(best.withoutNegativeZero)
        }
    }

    /// Returns what the column of the exact sum contains: the sum, or null if the object has so few members that they are read instead.
    func exactCell(_ derived: DerivedValue, _ column: DerivedColumn, _ row: UInt32) -> StoredCell {
        guard column.exactSlot != nil, let list = column.list, case .sum(let sum) = derived,
            memberCount(list, owner: row) > DerivedColumn.readCountMax
        else { return .null }
        return .bytes(sum.exact.bytes)
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
            if let value = value(member, rows, source.slot, source.kind, source.type) { body(value) }
        }
    }

    /// Returns the value of a column in a row, or `nil` for null.
    func value(_ row: UInt32, _ rows: Rows, _ slot: Int, _ kind: ColumnKind, _ type: AttributeType) -> Value? {
        let form: StoredForm? = rows.withCell(row, slot, kind) { cell in
            switch cell.kind {
            case .null: nil
            case .fixed: .fixed(cell.low, cell.high)
            case .bytes: .bytes([UInt8](cell.bytes))
            }
        }
        return form.flatMap { Value(stored: $0, type: type) }
    }

    private func overflow(_ column: DerivedColumn) -> CambiumError {
        CambiumError(.limitExceeded, "The value of '\(column.attribute.name)' is too large. Change the values that it is derived from.")
    }
}

/// The value of a derived attribute: a finished value, or a sum, which its type may be unable to hold.
enum DerivedValue {
    case value(Value)
    case sum(DerivedSum)
}

/// An exact sum of numbers. So the sum does not depend on the order in which the numbers are added and subtracted.
struct DerivedSum {
    private let type: AttributeType
    private var whole: Int128 = 0
    /// The sum of floating-point numbers; `nil` until one is added.
    private var real: ExactSum?
    private var decimal = DecimalSum()

    /// - Parameter type: The type of the sum: a whole number, `double` or `decimal`.
    init(_ type: AttributeType) { self.type = type }

    mutating func add(_ value: Value) {
        switch value {
        case .int(let number): whole += Int128(number)
        case .float(let number): addReal(Double(number))
        case .double(let number): addReal(number)
        case .decimal(let number): decimal.add(number)
        default: break
        }
    }

    /// Subtracts a number that was added before.
    mutating func subtract(_ value: Value) {
        switch value {
        case .int(let number): whole -= Int128(number)
        case .float(let number): addReal(-Double(number))
        case .double(let number): addReal(-number)
        case .decimal(let number): decimal.subtract(number)
        default: break
        }
    }

    mutating func add(_ sum: ExactSum) { real = sum }

    private mutating func addReal(_ number: Double) {
        if real == nil { real = ExactSum() }
        real?.add(number)
    }

    /// The exact sum of the floating-point numbers.
    var exact: ExactSum { real ?? ExactSum() }

    /// The sum, or `nil` if its type cannot hold it. Complexity: O(1).
    var total: Value? {
        switch type {
        case .double:
            let total = real?.total ?? 0
            return total.isFinite ? .double(total) : nil
        case .decimal: return decimal.number.map { .decimal($0) }
        default: return Value(whole, type)
        }
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

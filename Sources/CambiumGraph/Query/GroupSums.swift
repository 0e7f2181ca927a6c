import CambiumModel

/// Computes one function for each group.
class GroupSums {
    /// Adds a row to a group. The caller has made space for the group.
    func add(_ row: UInt32, _ view: GroupView, to code: Int) {}

    /// Makes space for a number of groups.
    func grow(to count: Int) {}

    func result(_ code: Int) -> Value { .null }
}

/// Counts the rows of each group.
final class RowCounts: GroupSums {
    private var counts: [Int] = []

    override func grow(to count: Int) { while counts.count < count { counts.append(0) } }
    override func add(_ row: UInt32, _ view: GroupView, to code: Int) { counts[code] &+= 1 }
    override func result(_ code: Int) -> Value { .int(Int64(counts[code])) }
}

/// Computes any function of any operand.
final class GeneralSums: GroupSums {
    private let function: AggregateFunction
    private let reader: ValueReader
    private let type: AttributeType?
    private var sums: [Accumulator] = []

    init(_ function: AggregateFunction, _ reader: ValueReader) {
        self.function = function
        self.reader = reader
        type = (reader as? PathReader)?.type
    }

    override func grow(to count: Int) { while sums.count < count { sums.append(Accumulator(function, of: type)) } }

    override func add(_ row: UInt32, _ view: GroupView, to code: Int) {
        _ = reader.visit(row) { value in
            sums[code].add(value)
            return true
        }
    }

    override func result(_ code: Int) -> Value { sums[code].result }
}

/// Adds the numbers of a column, or their means, without making values of them.
final class ColumnSums: GroupSums {
    private let function: AggregateFunction
    private let slot: Int
    private let type: AttributeType
    private var counts: [Int] = []
    private var wholes: [Int128] = []
    private var reals: [Double] = []
    private var corrections: [Double] = []

    /// - Parameter function: `sum` or `avg`.
    init(_ function: AggregateFunction, _ field: Field) {
        self.function = function
        slot = field.slot
        type = field.type
    }

    /// Whether the type of an attribute is one that this class adds.
    static func adds(_ type: AttributeType) -> Bool { [.int16, .int32, .int64, .float, .double].contains(type) }

    override func grow(to count: Int) {
        while counts.count < count {
            counts.append(0)
            wholes.append(0)
            reals.append(0)
            corrections.append(0)
        }
    }

    override func add(_ row: UInt32, _ view: GroupView, to code: Int) {
        let leaf = view.leaf(slot)
        guard Rows.bit(leaf, PageLayout.presenceOffset, row) else { return }
        counts[code] &+= 1
        let index = Int(row & PageLayout.rowMask)
        switch type {
        case .int16: wholes[code] &+= Int128((leaf + PageLayout.valuesOffset + 2 &* index).load(as: Int16.self))
        case .int32: wholes[code] &+= Int128((leaf + PageLayout.valuesOffset + 4 &* index).load(as: Int32.self))
        case .int64: wholes[code] &+= Int128((leaf + PageLayout.valuesOffset + 8 &* index).load(as: Int64.self))
        case .float: add(Double((leaf + PageLayout.valuesOffset + 4 &* index).load(as: Float.self)), code)
        default: add((leaf + PageLayout.valuesOffset + 8 &* index).load(as: Double.self), code)
        }
    }

    /// Keeps the rounding error (Neumaier's variant of Kahan's summation).
    @inline(__always) private func add(_ number: Double, _ code: Int) {
        let real = reals[code]
        let sum = real + number
        corrections[code] += real.magnitude >= number.magnitude ? (real - sum) + number : (number - sum) + real
        reals[code] = sum
    }

    override func result(_ code: Int) -> Value {
        let isReal = type == .float || type == .double
        let real = isReal ? reals[code] + corrections[code] : Double(wholes[code])
        if function == .avg { return counts[code] == 0 ? .null : .double(real / Double(counts[code])) }
        if isReal { return .double(real) }
        if let whole = Int64(exactly: wholes[code]) { return .int(whole) }
        return .decimal(DecimalNumber(String(wholes[code])) ?? .zero)
    }
}

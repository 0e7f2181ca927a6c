import CambiumModel

/// Computes one function for each group.
class GroupSums {
    /// Adds rows to their groups. The caller must have called `grow` for all group numbers in `codes`.
    func add(_ rows: GroupBits, _ view: GroupView, _ codes: [Int32]) {}

    /// Allocates memory for this many groups.
    func grow(to count: Int) {}

    func result(_ code: Int) -> Value { .null }
}

/// Counts the rows of each group.
final class RowCounts: GroupSums {
    private var counts: [Int] = []

    override func grow(to count: Int) { while counts.count < count { counts.append(0) } }

    override func add(_ rows: GroupBits, _ view: GroupView, _ codes: [Int32]) {
        counts.withUnsafeMutableBufferPointer { counts in
            rows.forEach { index in
                counts[Int(codes[Int(index)])] &+= 1
                return true
            }
        }
    }

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

    override func add(_ rows: GroupBits, _ view: GroupView, _ codes: [Int32]) {
        rows.forEach { index in
            let code = Int(codes[Int(index)])
            return reader.visit(view.row(index)) { value in
                sums[code].add(value)
                return true
            }
        }
    }

    override func result(_ code: Int) -> Value { sums[code].result }
}

/// Computes the sums or averages of the numbers in a column, without creating a `Value` for each number.
final class ColumnSums: GroupSums {
    private let function: AggregateFunction
    private let slot: Int
    private let type: AttributeType
    private var sums: [Sum] = []

    private struct Sum {
        var count = 0
        var whole: Int128 = 0
        var real = 0.0
        /// The sum of the rounding errors of `real`.
        var correction = 0.0
    }

    /// - Parameter function: `sum` or `avg`.
    init(_ function: AggregateFunction, _ field: Field) {
        self.function = function
        slot = field.slot
        type = field.type
    }

    /// Returns whether this class can add numbers of this type.
    static func adds(_ type: AttributeType) -> Bool { [.int16, .int32, .int64, .float, .double].contains(type) }

    override func grow(to count: Int) { while sums.count < count { sums.append(Sum()) } }

    override func add(_ rows: GroupBits, _ view: GroupView, _ codes: [Int32]) {
        let leaf = view.leaf(slot)
        let present = rows & view.presence(leaf)
        let values = leaf + PageLayout.valuesOffset
        switch type {
        case .int16: addWholes(present, codes) { Int64(values.load(fromByteOffset: 2 &* $0, as: Int16.self)) }
        case .int32: addWholes(present, codes) { Int64(values.load(fromByteOffset: 4 &* $0, as: Int32.self)) }
        case .int64: addWholes(present, codes) { values.load(fromByteOffset: 8 &* $0, as: Int64.self) }
        case .float: addReals(present, codes) { Double(values.load(fromByteOffset: 4 &* $0, as: Float.self)) }
        default: addReals(present, codes) { values.load(fromByteOffset: 8 &* $0, as: Double.self) }
        }
    }

    @inline(__always) private func addWholes(_ rows: GroupBits, _ codes: [Int32], _ value: (Int) -> Int64) {
        sums.withUnsafeMutableBufferPointer { sums in
            rows.forEach { index in
                let code = Int(codes[Int(index)])
                sums[code].count &+= 1
                sums[code].whole &+= Int128(value(Int(index)))
                return true
            }
        }
    }

    /// Adds floating-point numbers, and adds up the rounding errors separately (Neumaier's variant of Kahan's summation).
    @inline(__always) private func addReals(_ rows: GroupBits, _ codes: [Int32], _ value: (Int) -> Double) {
        sums.withUnsafeMutableBufferPointer { sums in
            rows.forEach { index in
                let code = Int(codes[Int(index)])
                let number = value(Int(index))
                let real = sums[code].real
                let sum = real + number
                sums[code].count &+= 1
                sums[code].correction += real.magnitude >= number.magnitude ? (real - sum) + number : (number - sum) + real
                sums[code].real = sum
                return true
            }
        }
    }

    override func result(_ code: Int) -> Value {
        let sum = sums[code]
        let isReal = type == .float || type == .double
        // If the sum is infinite, its rounding error is not a number, so it is not added.
        let real = isReal ? sum.real.isFinite ? sum.real + sum.correction : sum.real : Double(sum.whole)
        if function == .avg { return sum.count == 0 ? .null : .double(real / Double(sum.count)) }
        if isReal { return .double(real) }
        if let whole = Int64(exactly: sum.whole) { return .int(whole) }
        return .decimal(DecimalNumber(String(sum.whole)) ?? .zero)
    }
}

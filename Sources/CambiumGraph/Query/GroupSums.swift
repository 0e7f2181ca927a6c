import CambiumModel

/// Computes one function, such as a sum, for each group of an aggregate query.
class GroupSums {
    /// Adds rows to their groups. The caller must have called `grow` for all group numbers in `codes`.
    func add(_ rows: GroupBits, _ view: GroupView, _ codes: [Int32]) {}

    /// Allocates memory for this many groups.
    func grow(to count: Int) {}

    func result(_ code: Int) -> Value { .null }
}

/// Counts the rows of each group of an aggregate query.
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
    /// Whether one row can have several floating-point numbers, so that their order matters.
    private let needsTerms: Bool
    private var terms = RealTerms()

    init(_ function: AggregateFunction, _ reader: ValueReader) {
        self.function = function
        self.reader = reader
        type = reader.type
        let isToMany = (reader as? PathReader)?.links.contains(where: \.isToMany) ?? false
        needsTerms = isToMany && RealTerms.areNeeded(for: function, of: reader.type)
    }

    override func grow(to count: Int) { while sums.count < count { sums.append(Accumulator(function, of: type)) } }

    override func add(_ rows: GroupBits, _ view: GroupView, _ codes: [Int32]) {
        rows.forEach { index in
            let code = Int(codes[Int(index)])
            if needsTerms {
                reader.visitAll(view.row(index)) { value, count in terms.append(value, times: count) }
                terms.move(to: &sums[code])
            } else {
                reader.visitAll(view.row(index)) { value, count in sums[code].add(value, times: count) }
            }
            return true
        }
    }

    override func result(_ code: Int) -> Value { sums[code].result }
}

/// Computes the sums or averages of the numbers in a column, without creating a `Value` for each number.
final class ColumnSums: GroupSums {
    private let function: AggregateFunction
    private let slot: Int
    private let type: AttributeType
    private let isReal: Bool
    /// The sums of whole numbers; empty if the column contains floating-point numbers.
    private var wholes: [WholeSum] = []
    /// The sums of floating-point numbers; empty if the column contains whole numbers.
    private var reals: [CountedSum] = []

    private struct WholeSum {
        var sum: Int128 = 0
        var count = 0
    }

    private struct CountedSum {
        var sum = RealSum()
        var count = 0
    }

    /// - Parameter function: `sum` or `avg`.
    init(_ function: AggregateFunction, _ field: Field) {
        self.function = function
        slot = field.slot
        type = field.type
        isReal = type == .float || type == .double
    }

    /// Returns whether this class can add numbers of this type.
    static func adds(_ type: AttributeType) -> Bool { [.int16, .int32, .int64, .float, .double].contains(type) }

    override func grow(to count: Int) {
        if isReal {
            while reals.count < count { reals.append(CountedSum()) }
        } else {
            while wholes.count < count { wholes.append(WholeSum()) }
        }
    }

    override func add(_ rows: GroupBits, _ view: GroupView, _ codes: [Int32]) {
        let leaf = view.leaf(slot)
        let present = rows & view.presence(leaf)
        let values = FixedLeaf(leaf).values
        switch type {
        case .int16: addWholes(present, codes) { Int64(values.load(fromByteOffset: 2 &* $0, as: Int16.self)) }
        case .int32: addWholes(present, codes) { Int64(values.load(fromByteOffset: 4 &* $0, as: Int32.self)) }
        case .int64: addWholes(present, codes) { values.load(fromByteOffset: 8 &* $0, as: Int64.self) }
        case .float: addReals(present, codes) { Double(values.load(fromByteOffset: 4 &* $0, as: Float.self)) }
        default: addReals(present, codes) { values.load(fromByteOffset: 8 &* $0, as: Double.self) }
        }
    }

    @inline(__always) private func addWholes(_ rows: GroupBits, _ codes: [Int32], _ value: (Int) -> Int64) {
        wholes.withUnsafeMutableBufferPointer { sums in
            Self.forEach(rows, codes) { index, code in
                sums[code].sum &+= Int128(value(index))
                sums[code].count &+= 1
            }
        }
    }

    @inline(__always) private func addReals(_ rows: GroupBits, _ codes: [Int32], _ value: (Int) -> Double) {
        reals.withUnsafeMutableBufferPointer { sums in
            Self.forEach(rows, codes) { index, code in
                sums[code].sum.add(value(index))
                sums[code].count &+= 1
            }
        }
    }

    /// Calls `body` with the index of each row in its group of rows, and with the number of the row's group in the query.
    @inline(__always) private static func forEach(_ rows: GroupBits, _ codes: [Int32], _ body: (Int, Int) -> Void) {
        codes.withUnsafeBufferPointer { codes in
            // Usually, all rows of a group of rows are wanted. In this case, the loop need not search for the set bits.
            if rows == .all {
                for index in 0..<PageLayout.fanOut { body(index, Int(codes[index])) }
            } else {
                rows.forEach { index in
                    body(Int(index), Int(codes[Int(index)]))
                    return true
                }
            }
        }
    }

    override func result(_ code: Int) -> Value {
        isReal ? result(reals[code]) : result(wholes[code])
    }

    private func result(_ real: CountedSum) -> Value {
        if function == .sum { return .double(real.sum.total) }
        return real.count == 0 ? .null : .double(real.sum.mean(of: Double(real.count)))
    }

    private func result(_ whole: WholeSum) -> Value {
        if function == .avg { return whole.count == 0 ? .null : .double(Double(whole.sum) / Double(whole.count)) }
        if let sum = Int64(exactly: whole.sum) { return .int(sum) }
        return .decimal(DecimalNumber(String(whole.sum)) ?? .zero)
    }
}

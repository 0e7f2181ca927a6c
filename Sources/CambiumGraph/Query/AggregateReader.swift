import CambiumModel

/// Reads a number that is computed from the objects at the end of a path.
final class AggregateReader: ValueReader {
    private let function: AggregateFunction
    private let path: PathReader
    private let value: PathReader?
    /// The type of the attribute whose values are read; `nil` if the function counts objects.
    private let source: AttributeType?
    private let context: QueryContext
    /// For each step of the path except the last, the number of paths that begin at each row; -1 before it is computed.
    private var counts: [[Int64]]
    /// The numbers of the current object. The next object reuses the memory.
    private var terms = RealTerms()
    private let hubs: HubFinder?
    /// The results of hubs, which many objects share, as in `owner.items.@max.price`.
    private(set) var hubResults: [UInt32: Value] = [:]

    init(_ function: AggregateFunction, _ path: PathReader, of value: PathReader?, _ context: QueryContext) {
        self.function = function
        self.path = path
        self.value = value
        source = value?.type
        self.context = context
        counts = path.links.dropLast().map { _ in [] }
        hubs = value.flatMap { HubFinder(path.links + $0.links, context) }
        let kind: ValueKind = function == .min || function == .max ? value?.kind ?? .number : .number
        super.init(kind: kind)
    }

    /// Whether the function is a sum of whole or decimal numbers. Such a sum is exact unless it has too many digits for a decimal number.
    var isExactSum: Bool { function == .sum && source != .float && source != .double }

    /// The type of the results. An exact sum may be a whole number, a decimal number or a double, so it has no type.
    override var type: AttributeType? {
        switch function {
        case .min, .max: source
        case .avg: .double
        case .sum: isExactSum ? nil : .double
        case .count, .countDistinct: nil
        }
    }

    override var isEntityName: Bool { (function == .min || function == .max) && value?.isEntityName == true }

    override func visit(_ row: UInt32, _ body: (QueryValue) -> Bool) -> Bool {
        body(.value(value.map { result(row, $0) } ?? .int(count(row, 0))))
    }

    /// Returns the number of paths that begin at a row and follow the steps from `level` on. Each number is computed once.
    private func count(_ row: UInt32, _ level: Int) -> Int64 {
        let end = path.links[level].end
        if level == counts.count { return Int64(context.reader.memberCount(end, owner: row)) }
        if counts[level].isEmpty {
            let groupCount = context.reader.groupCount(path.links[level].ownerTable.index)
            counts[level] = [Int64](repeating: -1, count: groupCount << PageLayout.fanOutShift)
        }
        if Int(row) < counts[level].count, counts[level][Int(row)] >= 0 { return counts[level][Int(row)] }
        if context.checkCancellation() { return 0 }
        var sum: Int64 = 0
        context.reader.forEachMember(end, owner: row) { target in
            let (next, isOverflowing) = sum.addingReportingOverflow(count(target, level + 1))
            // The sum stops at the greatest `Int64`, because no comparison needs the exact value of a greater number.
            sum = isOverflowing ? .max : next
        }
        if Int(row) < counts[level].count { counts[level][Int(row)] = sum }
        return sum
    }

    /// Returns the aggregate of the values that belong to a row. The result of a hub is computed once.
    private func result(_ row: UInt32, _ reader: PathReader) -> Value {
        guard let hub = hubs?.hub(of: row) else { return aggregate(row, reader) }
        if let known = hubResults[hub] { return known }
        let found = aggregate(row, reader)
        hubResults[hub] = found
        return found
    }

    private func aggregate(_ row: UInt32, _ reader: PathReader) -> Value {
        var sum = Accumulator(function, of: source)
        if RealTerms.areNeeded(for: function, of: source) {
            forEachValue(row, reader) { value, times in terms.append(value, times: times) }
            terms.move(to: &sum)
        } else {
            forEachValue(row, reader) { value, times in sum.add(value, times: times) }
        }
        return sum.result
    }

    /// Calls `body` with each value at the end of the paths from a row, and with the number of paths that lead to it.
    private func forEachValue(_ row: UInt32, _ reader: PathReader, _ body: (QueryValue, Int128) -> Void) {
        if path.links.count == 1 {
            _ = path.visitRows(row) { end in
                if let end { reader.visitAll(end, body) }
                return true
            }
            return
        }
        for case (let end?, let count) in path.ends(of: row) {
            reader.visitAll(end) { value, further in
                let (times, isOverflowing) = count.multipliedReportingOverflow(by: further)
                body(value, isOverflowing ? .max : times)
            }
        }
    }
}

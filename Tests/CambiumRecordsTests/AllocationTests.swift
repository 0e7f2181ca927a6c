import CAllocations
import Cambium
import CambiumTesting
import Testing

/// Counts the blocks of memory that reading takes. A sanitizer replaces the functions that allocate, so nothing can be counted then.
@Suite(.enabled(if: callocations_are_counted() == 1))
struct AllocationTests {
    private let graph: Graph

    init() throws {
        let store = try Store.inMemory(schema: Schema(of: Reading.self))
        try store.write { transaction in
            for number in 0..<1000 {
                try transaction.insert(
                    "Reading",
                    ["number": .int(Int64(number)), "size": .int(3), "weight": .double(0.5), "isDone": .bool(number.isMultiple(of: 2))])
            }
        }
        graph = store.graph
    }

    @Test func `an array is counted`() {
        var sink: [Int] = []
        #expect(Allocations.ofReads { sink = Array(repeating: 7, count: 1000) } >= 1000)
        #expect(sink.count == 1000)
    }

    @Test func `a record reads its scalar properties without an allocation`() throws {
        let readings = try graph.fetch(Reading.self)
        #expect(readings.count == 1000)
        #expect(readings.dropFirst().map(\.allocationCount).max() == 0)
    }

    @Test func `a typed column reads scalar values without an allocation`() throws {
        let (numbers, sizes) = (try graph.column(\Reading.number), try graph.column(\Reading.size))
        let (weights, done) = (try graph.column(\Reading.weight), try graph.column(\Reading.isDone))
        let (first, last) = try places()
        var sum = 0.0
        let count = Allocations.ofReads {
            sum += Double(numbers[last] ?? 0)
            sum += Double(sizes[first] ?? 0)
            sum += weights[last] ?? 0
            if done[first] == true { sum += 1 }
        }
        #expect(sum == 1_004_503.5)  // 1001 times 999, 3, 0.5 and 1
        #expect(count == 0)
    }

    @Test func `a bound column reads a scalar value without an allocation`() throws {
        let column = graph.column(try attribute())
        let last = try places().last
        var sum: Int64 = 0
        let count = Allocations.ofReads { sum += column.int(at: last) ?? 0 }
        #expect(sum == 1001 * 999)
        #expect(count == 0)
    }

    @Test func `a look-up by id reads a scalar value without an allocation`() throws {
        let attribute = try attribute()
        let id = graph.id(of: try places().last)
        var sum: Int64 = 0
        let count = Allocations.ofReads { if case .int(let number)? = graph[id, attribute] { sum += number } }
        #expect(sum == 1001 * 999)
        #expect(count == 0)
    }

    private func attribute() throws -> Attribute { try graph.schema.required("Reading").requiredAttribute("number") }

    /// The places of the first and of the last object. Loops over places are not part of a measurement: they allocate in debug builds.
    private func places() throws -> (first: ObjectPlace, last: ObjectPlace) {
        let places = Array(try graph.places(of: Reading.self))
        return (places[0], places[999])
    }
}

private enum Allocations {
    /// Returns the number of blocks that this thread requests while `body` is called 1000 times. A first call is not counted, because the
    /// program may have to load metadata of types then.
    static func ofReads(_ body: () -> Void) -> UInt64 {
        body()
        let before = callocations_count()
        var left = 1000
        while left > 0 {
            body()
            left -= 1
        }
        return callocations_count() - before
    }
}

/// A record that counts the allocations of reading its scalar properties.
private struct Reading: EntityRecord {
    var number: Int
    var size: Int16
    var weight: Double
    var isDone: Bool
    var allocationCount: UInt64
    var ref: Ref<Reading>?

    static let recordSchema = RecordSchema<Reading>("Reading") {
        RecordProperty("number", \.number)
        RecordProperty("size", \.size)
        RecordProperty("weight", \.weight)
        RecordProperty("isDone", \.isDone)
    }
    init(from row: inout RecordReader) throws {
        let before = callocations_count()
        number = try row.read(0)
        size = try row.read(1)
        weight = try row.read("weight")
        isDone = try row.read("isDone")
        allocationCount = callocations_count() - before
        ref = row.ref()
    }
    mutating func write(to row: inout RecordWriter) throws {
        try row.write(0, &number)
        try row.write(1, &size)
        try row.write(2, &weight)
        try row.write(3, &isDone)
    }
}

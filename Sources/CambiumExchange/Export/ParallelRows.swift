internal import CambiumBytes
import CambiumGraph
import CambiumModel
import Synchronization

/// Encodes the rows of an export on two threads, and passes the rows to `put` in order.
///
/// The caller's thread collects objects into the blocks of a round. Then both threads encode the blocks of the round, and the caller's
/// thread passes the rows to `put`. An export that is shorter than one round uses only the caller's thread.
final class ParallelRows {
    private let round: ExportRound
    private let objects: ObjectWriter
    private var thread: DedicatedThread?
    /// Whether the caller's thread encodes all rows, because the operating system could not provide a second thread.
    private var isAlone = false
    /// The number of full blocks in the current round.
    private var fullCount = 0

    /// - Parameter entity: an entity to which all objects belong, directly or through a sub-entity.
    init(_ graph: Graph, _ options: ExportOptions, declared entity: Entity?) {
        round = ExportRound(graph, options, entity)
        objects = ObjectWriter(graph, options)
    }

    /// Exports the objects of the entity, or of all entities if the entity is `nil`. Omits the objects for which `condition` returns
    /// `false`.
    func export(where condition: ((ObjectPlace) -> Bool)?, to put: ([UInt8]) throws -> Void) throws {
        defer { endThread() }
        try objects.order.forEachObject(of: round.entity, where: condition) { place in
            let block = round.blocks[fullCount]
            block.places.append(place)
            guard block.places.count == ExportBlock.placeCountMax else { return }
            fullCount += 1
            if fullCount < round.blocks.count { return }
            try putRound(isShared: true, put)
        }
        try putRound(isShared: false, put)
        try round.blocks[0].rows.end(to: put)
    }

    private func putRound(isShared: Bool, _ put: ([UInt8]) throws -> Void) throws {
        if isShared, thread == nil, !isAlone {
            let round = round
            thread = DedicatedThread { round.work() }
            isAlone = thread == nil
        }
        round.run(with: objects, isShared: isShared && !isAlone)
        for block in round.blocks {
            if block.places.isEmpty { break }
            try block.put(objects, round, to: put)
        }
        fullCount = 0
    }

    private func endThread() {
        guard let thread else { return }
        round.end()
        thread.join()
    }
}

/// A block of objects that one thread encodes, and the rows that the thread has encoded so far.
private final class ExportBlock {
    static let placeCountMax = 256

    var places: [ObjectPlace] = []
    var rows: RowOutput
    private var encodedCount = 0

    init(_ format: ExportOptions.Format, isFirst: Bool) { rows = RowOutput(format, isFirst: isFirst) }

    /// Encodes rows until the buffer is large. Later, the caller's thread encodes the remaining rows one by one while it passes them to
    /// `put`. So the memory stays bounded even if rows are large.
    func encode(_ objects: ObjectWriter, _ round: ExportRound) {
        while encodedCount < places.count, !rows.isLarge {
            encodeNext(objects, round)
        }
    }

    private func encodeNext(_ objects: ObjectWriter, _ round: ExportRound) {
        let place = places[encodedCount]
        rows.add { objects.object(place, .init(tree: round.options.include, declared: round.entity), &$0) }
        encodedCount += 1
    }

    func put(_ objects: ObjectWriter, _ round: ExportRound, to put: ([UInt8]) throws -> Void) throws {
        try rows.put(to: put)
        while encodedCount < places.count {
            encodeNext(objects, round)
            if rows.isFull { try rows.put(to: put) }
        }
        try rows.put(to: put)
        places.removeAll(keepingCapacity: true)
        encodedCount = 0
    }
}

/// The blocks of objects that two threads encode in one round, and the common state of the two threads.
///
/// SENDABLE: while a round runs, a block belongs to the thread that took its index. Between rounds, all blocks belong to the caller's
/// thread. `turn` and `finished` order the accesses of the two threads.
private final class ExportRound: @unchecked Sendable {
    private static let blockCount = 16

    let graph: Graph
    let options: ExportOptions
    let entity: Entity?
    let blocks: [ExportBlock]
    /// The index of the next block that no thread has taken.
    private let next = Atomic(0)
    private let isEnded = Atomic(false)
    /// The number of the current round, or of the last one if no round is running. The second thread sleeps until the number changes.
    private let turn = Futex(0)
    /// The number of the last round that the second thread has finished.
    private let finished = Futex(0)

    init(_ graph: Graph, _ options: ExportOptions, _ entity: Entity?) {
        self.graph = graph
        self.options = options
        self.entity = entity
        blocks = (0..<Self.blockCount).map { ExportBlock(options.format, isFirst: $0 == 0) }
    }

    /// Encodes all blocks of the round. If `isShared` is `true`, the second thread encodes some of them.
    func run(with objects: ObjectWriter, isShared: Bool) {
        next.store(0, ordering: .relaxed)
        let number = turn.value &+ 1
        if isShared {
            turn.value = number
            turn.wakeOne()
        }
        encodeBlocks(objects)
        while isShared, finished.value != number { finished.wait(while: number &- 1) }
    }

    private func encodeBlocks(_ objects: ObjectWriter) {
        while true {
            let index = next.add(1, ordering: .relaxed).oldValue
            if index >= blocks.count || blocks[index].places.isEmpty { return }
            blocks[index].encode(objects, self)
        }
    }

    /// Encodes blocks of each round until `end` is called. The second thread runs this method.
    func work() {
        let objects = ObjectWriter(graph, options)
        var last: UInt32 = 0
        while true {
            turn.wait(while: last)
            if isEnded.load(ordering: .acquiring) { return }
            let number = turn.value
            if number == last { continue }
            encodeBlocks(objects)
            last = number
            finished.value = number
            finished.wakeOne()
        }
    }

    /// Ends `work`. The caller must not call this method during a round.
    func end() {
        isEnded.store(true, ordering: .releasing)
        turn.value = turn.value &+ 1
        turn.wakeOne()
    }
}

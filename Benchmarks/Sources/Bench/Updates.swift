import Cambium
import Glibc

/// Measures changes of single objects of the imported store: first with durable commits, then with commits that are only passed to the
/// kernel.
struct Updates {
    private let settings: Settings
    private var path: String { settings.store("synth\(settings.synth.rawValue)") }
    static let workload = "C3.single-object update, own txn"
    static let seconds = 1.0

    init(_ settings: Settings) { self.settings = settings }

    func run() throws {
        let store = try Store.open(at: path, durability: .synced)
        let items = try Items(store)
        let raw = try rawRate(recordCount: 1)
        settings.emit(Self.workload, subject: "LIMIT raw 256 B pwrite + fdatasync", raw, "ops/s")
        var index = 0
        let durable = try Self.measure(settings, store, items, &index, variant: "")
        settings.emit("C3.durable update / raw append+fdatasync (same run)", durable / raw, "x")
        try groups(store, items, &index)
        try writers(store, items, &index)
        try tasks(store, items, &index, roundCount: 10)
        try store.close()
        let buffered = try Store.open(at: path, durability: .buffered(every: .seconds(1)))
        _ = try Self.measure(settings, buffered, items, &index, variant: "buffered")
        try buffered.close()
    }

    /// Commits one change after another for a second. Returns the number of changes per second.
    static func measure(
        _ settings: Settings, _ store: Store, _ items: Items, _ index: inout Int, variant: String
    ) throws -> Double {
        let first = index
        let writtenBefore = try Process.writtenByteCount()
        let start = now()
        var elapsed = 0.0
        repeat {
            try items.update(store, index)
            index += 1
            elapsed = now() - start
        } while elapsed < seconds
        let count = Double(index - first)
        let written = try Process.writtenByteCount() - writtenBefore
        try items.checkLast(store.graph, index - 1)
        settings.emit(workload, count / elapsed, "ops/s", variant: variant)
        settings.emit("\(workload) |written per op", written / count, "B", variant: variant)
        return count / elapsed
    }

    private func groups(_ store: Store, _ items: Items, _ index: inout Int) throws {
        let workload = "C3.updates, 64 per txn (group commit)"
        let raw = try rawRate(recordCount: 64)
        settings.emit(workload, subject: "LIMIT raw 64 x 256 B pwrite + fdatasync", raw, "ops/s")
        let first = index
        let start = now()
        var elapsed = 0.0
        repeat {
            let group = index..<index + 64
            try store.write { transaction in for index in group { try items.update(&transaction, index) } }
            index = group.upperBound
            elapsed = now() - start
        } while elapsed < Self.seconds
        try items.checkLast(store.graph, index - 1)
        settings.emit(workload, Double(index - first) / elapsed, "ops/s")
    }

    /// Measures 64 threads, each of which waits until its change is durable before it makes the next one.
    private func writers(_ store: Store, _ items: Items, _ index: inout Int) throws {
        let first = index
        let perWriter = items.count / 64
        let before = store.graph.transaction.rawValue
        let start = now()
        try Threads.run(64) { writer in
            for round in 0..<perWriter { try items.update(store, first + round * 64 + writer) }
        }
        let elapsed = now() - start
        index += 64 * perWriter
        try check(store.graph.transaction.rawValue - before, is: UInt64(index - first), "transactions of all writers")
        for changed in first..<index { try items.checkLast(store.graph, changed) }
        settings.emit("C3.updates, 64 writer threads", Double(index - first) / elapsed, "ops/s")
    }

    /// Measures 64 tasks, each of which continues while up to 64 of its changes are not durable yet.
    private func tasks(_ store: Store, _ items: Items, _ index: inout Int, roundCount: Int) throws {
        let first = index
        let before = store.graph.transaction.rawValue
        let start = now()
        for _ in 0..<roundCount { try tasks(store, items, &index) }
        let elapsed = now() - start
        try check(store.graph.transaction.rawValue - before, is: UInt64(index - first), "transactions of all tasks")
        for changed in index - items.count / 64 * 64..<index { try items.checkLast(store.graph, changed) }
        settings.emit("C3.updates, 64 tasks with tickets", Double(index - first) / elapsed, "ops/s")
    }

    /// Changes each item once.
    private func tasks(_ store: Store, _ items: Items, _ index: inout Int) throws {
        let first = index
        let perTask = items.count / 64
        try Threads.wait {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<64 {
                    group.addTask {
                        var tickets: [Ticket] = []
                        for round in 0..<perTask {
                            if tickets.count == 64 {
                                for ticket in tickets { _ = try await ticket.receipt }
                                tickets.removeAll(keepingCapacity: true)
                            }
                            tickets.append(try items.enqueue(store, first + round * 64 + task))
                        }
                        for ticket in tickets { _ = try await ticket.receipt }
                    }
                }
                try await group.waitForAll()
            }
        }
        index += 64 * perTask
    }

    /// Returns the number of records of 256 bytes that can be written and synced per second. Each write to an existing file has
    /// `recordCount` records.
    private func rawRate(recordCount: Int) throws -> Double {
        let name = settings.store("raw")
        let file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0o644)
        guard file >= 0 else { throw Failure("cannot create \(name): \(String(cString: strerror(errno)))") }
        defer {
            close(file)
            unlink(name)
        }
        let contents = [UInt8](repeating: 0x71, count: 8 << 20)
        try check(pwrite(file, contents, contents.count, 0), is: contents.count, "bytes written")
        fsync(file)
        let byteCount = 256 * recordCount
        let start = now()
        var (writeCount, elapsed) = (0, 0.0)
        repeat {
            let offset = writeCount * byteCount % contents.count
            try check(pwrite(file, contents, byteCount, offset), is: byteCount, "bytes written")
            try check(fdatasync(file), is: 0, "the result of fdatasync")
            writeCount += 1
            elapsed = now() - start
        } while elapsed < 0.5
        return Double(writeCount * recordCount) / elapsed
    }
}

/// Measures changes of single objects of a store in memory.
struct MemoryUpdates {
    private let settings: Settings

    init(_ settings: Settings) { self.settings = settings }

    func run() throws {
        let definition = try SynthSchema()
        let store = try Store.inMemory(schema: definition.schema)
        _ = try definition.import(settings.input(settings.synth), into: store)
        try check(store.graph.objectCount, is: settings.synth.objectCount, "objects")
        var index = 0
        _ = try Updates.measure(settings, store, try Items(store), &index, variant: "memory")
        try store.close()
    }
}

import Cambium
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

@Suite struct ApplyTests {
    /// A source store with every kind of op. The tests make more changes to it later.
    private struct Source {
        let volume = MemoryVolume()
        let store: Store

        init(tuning: LogTuning = .standard) throws {
            store = try Store.create(
                volume, schema: Notes.schema, durability: .synced, author: Author(actor: "maker"), environment: fixedEnvironment(),
                tuning: tuning)
        }

        func edit() throws {
            try store.importing("Note", #"{"id":2,"title":"b","items":[{"key":"y","tags":["red"]},{"key":"x","count":1}],"related":[1]}"#)
            try store.importing("Note", #"{"id":1,"title":"a","memos":[{"text":"m"},{"text":"n"}]}"#) { $0.missing = .clear }
            try store.write(Author(actor: "jane", message: "why", requestID: "r1")) { transaction in
                let note = try transaction.insert("Note", ["id": .int(3)])
                try transaction.link(note, "memos", transaction.insert("Memo"))
            }
            try store.recordDigest()
        }

        func edit(_ number: Int) throws {
            try store.write { transaction in
                let note = try transaction.insert("Note", ["id": .int(Int64(100 + number)), "title": .string("title \(number)")])
                for _ in 0..<number % 4 { try transaction.link(note, "memos", transaction.insert("Memo", ["text": .string("text")])) }
                let other = transaction.find(try transaction.schema.required("Note"), identity: [.int(Int64(98 + number))])
                if number % 5 == 4, let other { try transaction.delete(other) }
            }
        }
    }

    /// - Parameter isOneByOne: Whether each transaction is durable before the next one is written. Otherwise transactions are grouped as
    ///   they arrive.
    private func apply(
        _ source: any Volume, to target: any Volume, tuning: LogTuning = .standard, isOneByOne: Bool = false
    ) throws -> ApplyReport {
        try Store.apply(
            from: source, to: target, environment: fixedEnvironment(seed: 9), tuning: tuning,
            pace: isOneByOne ? ApplyRun.Pace(transactionCountMax: 1) : .standard)
    }

    /// Returns the metadata of each transaction of a log.
    private func entries(_ volume: MemoryVolume) throws -> [TransactionMetadata] {
        var entries: [TransactionMetadata] = []
        try TransactionLog(volume).forEach { entries.append($0.metadata) }
        return entries
    }

    // MARK: Results

    @Test(arguments: [false, true]) func `a new target becomes equal to the source, including the tree`(isTiny: Bool) throws {
        let source = try Source(tuning: isTiny ? .tiny : .standard)
        try source.edit()
        for number in 0..<20 { try source.edit(number) }
        let target = MemoryVolume()
        let report = try apply(source.volume, to: target, tuning: isTiny ? .tiny : .standard)
        #expect(report.appliedCount == 25 && report.presentCount == 0 && report.laterTimeCount == 0)
        #expect(report.digest == source.store.graph.digest() && report.objectCount == source.store.graph.objectCount)
        let (mine, theirs) = (try Verification(source.volume), try Verification(target))
        #expect(theirs.isSound && theirs.root == mine.root && theirs.digest == mine.digest)
        #expect(try entries(target) == entries(source.volume))
        #expect(try Store.reopened(target).graph.export == source.store.graph.export)
    }

    @Test func `applying again changes no byte, and later transactions are applied after the present ones`() throws {
        let source = try Source()
        try source.edit()
        let target = MemoryVolume()
        _ = try apply(source.volume, to: target)
        let segment = "log/00000000000000000001.log"
        let bytes = target.contents[segment]
        let again = try apply(source.volume, to: target)
        #expect(again.appliedCount == 0 && again.presentCount == 5 && target.contents[segment] == bytes)
        try source.edit(1)
        try source.edit(2)
        let more = try apply(source.volume, to: target)
        #expect(more.appliedCount == 2 && more.presentCount == 5 && more.digest == source.store.graph.digest())
        #expect(try Verification(target).root == Verification(source.volume).root)
    }

    @Test func `clones are applied as clone events and make the same objects`() throws {
        let source = try Source()
        try source.edit()
        let note = try source.store.schema.required("Note")
        let graph = source.store.graph
        let id = graph.id(of: try #require(graph.place(note, identity: [.int(1)])))
        var request = CloneRequest()
        request.rootValues = ["id": .int(77)]
        try source.store.write { [request] transaction in _ = try transaction.clone(id, request) }
        let target = MemoryVolume()
        #expect(try apply(source.volume, to: target).digest == source.store.graph.digest())
        #expect(try Verification(target).root == Verification(source.volume).root)
    }

    @Test func `a source whose log ends before its checkpoint is reported after its last transaction`() throws {
        let source = try Source()
        try source.edit(0)
        var files = source.volume.contents
        try source.edit(1)
        try source.store.checkpoint()
        try source.store.close()
        for (path, bytes) in source.volume.contents where path.hasPrefix("roots/") || path.hasPrefix("pages-") { files[path] = bytes }
        let target = MemoryVolume()
        #expect(code { _ = try apply(MemoryVolume(contents: files), to: target) } == .corrupted)
        #expect(try ReadOnlyStore(target).graph.transaction.rawValue == 2)
    }

    @Test func `a request of the source is known to the target`() throws {
        let source = try Source()
        try source.edit()
        let target = MemoryVolume()
        _ = try apply(source.volume, to: target)
        let store = try Store.reopened(target)
        #expect(code { try store.write(Author(requestID: "r1")) { try $0.insert("Note", ["id": .int(9)]) } } == .repeated)
    }

    @Test func `readers of an open store see the transactions that are applied to it`() throws {
        let source = try Source()
        try source.edit()
        let target = MemoryVolume()
        _ = try apply(source.volume, to: target)
        let store = try Store.open(target, durability: nil, environment: fixedEnvironment())
        try source.edit(3)
        #expect(try store.apply(from: source.volume).appliedCount == 1)
        #expect(store.graph.digest() == source.store.graph.digest())
        #expect(try store.apply(from: source.volume).appliedCount == 0)
    }

    @Test func `transactions that were applied before are not read again`() throws {
        let source = try Source(tuning: .tiny)
        try source.edit()
        for number in 0..<200 { try source.edit(number) }
        _ = try source.store.checkpoint()
        let target = MemoryVolume()
        _ = try apply(source.volume, to: target, tuning: .tiny)
        try source.edit(201)
        let watched = WatchedVolume(contents: source.volume.contents)
        #expect(try apply(watched, to: target, tuning: .tiny).appliedCount == 1)
        let count = { (paths: any Sequence<String>) in paths.count { $0.hasPrefix("log/") } }
        #expect(count(source.volume.contents.keys) > 100)
        #expect(count(watched.readPaths.withLock { $0 }) < 10)
    }

    @Test(arguments: [false, true]) func `applying continues after a compaction of the source or of the target`(isSource: Bool) throws {
        let source = try Source(tuning: .tiny)
        for number in 0..<20 { try source.edit(number) }
        let target = MemoryVolume()
        _ = try apply(source.volume, to: target, tuning: .tiny)
        let store = isSource ? source.store : try Store.open(target, durability: nil, environment: fixedEnvironment(), tuning: .tiny)
        try store.checkpoint()
        #expect(try store.compact(.checkpoints(1)).retiredEnd.rawValue > 15)
        if !isSource { try store.close() }
        for number in 20..<25 { try source.edit(number) }
        #expect(try apply(source.volume, to: target, tuning: .tiny).appliedCount == 5)
        if isSource { #expect(code { _ = try apply(source.volume, to: MemoryVolume()) } == .notFound) }
    }

    // MARK: Existing targets

    @Test func `a store with only the same schema takes the changes and counts the times that it could not keep`() throws {
        let source = try Source()
        try source.edit()
        let target = MemoryVolume()
        let late = fixedEnvironment()
        for _ in 0..<100 { _ = late.now() }
        try Store.create(target, schema: Notes.schema, durability: .synced, environment: late).close()
        let report = try apply(source.volume, to: target)
        #expect(report.appliedCount == 4 && report.presentCount == 1 && report.laterTimeCount == 4)
        #expect(report.digest == source.store.graph.digest())
        let (old, new) = (try entries(source.volume), try entries(target))
        for (old, new) in zip(old, new).dropFirst() {
            #expect(new.time - new.clockLag == old.time - old.clockLag && new.actor == old.actor)
        }
        #expect(try apply(source.volume, to: target).appliedCount == 0)
        try source.edit(1)
        #expect(try apply(source.volume, to: target).appliedCount == 1)
    }

    // MARK: Refusals

    @Test func `a target with a transaction of its own is refused and stays unchanged`() throws {
        let source = try Source()
        try source.edit()
        let target = MemoryVolume()
        _ = try apply(source.volume, to: target)
        let store = try Store.open(target, durability: nil, environment: fixedEnvironment())
        try store.write { try $0.insert("Note", ["id": .int(50)]) }
        try store.close()
        let digest = try Verification(target).digest
        #expect(code { _ = try apply(source.volume, to: target) } == .conflict)
        try source.edit(1)
        #expect(code { _ = try apply(source.volume, to: target) } == .conflict)
        #expect(try Verification(target).digest == digest)
    }

    @Test func `copies that reached the same transaction in different ways are not applied to each other`() throws {
        let source = try Source()
        try source.edit()
        try source.store.close()
        let copies = [MemoryVolume(contents: source.volume.contents), MemoryVolume(contents: source.volume.contents)]
        for (number, volume) in copies.enumerated() {
            let store = try Store.open(volume, durability: nil, environment: fixedEnvironment())
            try store.write { try $0.insert("Note", ["id": .int(50), "title": .string("copy \(number)")]) }
            try store.write { try $0.insert("Note", ["id": .int(60), "title": .string("the same")]) }
            if number == 0 { try store.write { try $0.insert("Note", ["id": .int(51)]) } }
            if number == 1 { try store.write { try $0.insert("Note", ["id": .int(52)]) } }
            try store.close()
        }
        let files = copies[1].contents
        #expect(code { _ = try apply(copies[0], to: copies[1]) } == .conflict)
        #expect(copies[1].contents.filter { $0.key.hasPrefix("log/") } == files.filter { $0.key.hasPrefix("log/") })
    }

    @Test func `another store, another schema, and an older copy of the source are refused`() throws {
        let source = try Source()
        try source.edit()
        let target = MemoryVolume()
        _ = try apply(source.volume, to: target)
        let other = MemoryVolume()
        let store = try Store.create(other, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(seed: 5))
        try store.write { try $0.insert("Note", ["id": .int(50)]) }
        #expect(code { _ = try apply(other, to: target) } == .conflict)
        let older = MemoryVolume(contents: source.volume.contents)
        try source.edit(1)
        _ = try apply(source.volume, to: target)
        #expect(code { _ = try apply(older, to: target) } == .conflict)
        let bare = MemoryVolume()
        let schema = try Schema(SchemaDefinition { EntityDefinition("Note") { AttributeDefinition("id", .int64) } })
        try Store.create(bare, schema: schema, durability: .synced, environment: fixedEnvironment()).close()
        #expect(code { _ = try apply(source.volume, to: bare) } == .conflict)
    }

    @Test func `without a source nothing is created, and a target in memory is refused`() throws {
        let target = MemoryVolume()
        #expect(code { _ = try apply(MemoryVolume(), to: target) } == .notFound)
        #expect(target.contents.isEmpty)
        let source = try Source()
        #expect(code { _ = try Store.inMemory(schema: Notes.schema).apply(from: source.volume) } == .invalidInput)
    }

    @Test func `a corrupt source is applied up to the corruption, and the rest once it is whole again`() throws {
        let source = try Source()
        try source.edit()
        for number in 0..<20 { try source.edit(number) }
        try source.store.close()
        var files = source.volume.contents
        let path = "log/00000000000000000001.log"
        let corrupted = try #require(files[path]).count * 3 / 4
        files[path]?[corrupted] ^= 1
        let target = MemoryVolume()
        #expect(code { _ = try apply(MemoryVolume(contents: files), to: target) } == .corrupted)
        let reached = try entries(target).count
        #expect(reached > 0 && reached < 25)
        let report = try apply(source.volume, to: target)
        #expect(report.presentCount == reached && report.appliedCount == 25 - reached)
        files[path]?[Format.Segment.headerByteCount + 8] ^= 1
        let empty = MemoryVolume()
        #expect(code { _ = try apply(MemoryVolume(contents: files), to: empty) } == .corrupted)
        #expect(empty.contents.keys.allSatisfy { $0 == LogWriter.lockFileName })
    }

    // MARK: Interruptions

    @Test(.enabled(if: LongTests.areWanted), arguments: [LogTuning.standard, .tiny])
    func `an apply that stops at any moment continues where it stopped`(tuning: LogTuning) throws {
        let source = try Source()
        try source.edit()
        for number in 0..<6 { try source.edit(number) }
        try source.store.close()
        let digest = source.store.graph.digest()
        let whole = FaultyVolume()
        _ = try apply(source.volume, to: whole, tuning: tuning, isOneByOne: true)
        var reached: Set<Int> = []
        for operation in 0..<whole.operationCount {
            let disk = FaultyVolume()
            disk.crash(at: operation)
            #expect(throws: (any Error).self) { try apply(source.volume, to: disk, tuning: tuning, isOneByOne: true) }
            let target = MemoryVolume(contents: disk.image(seed: UInt64(operation)))
            let report = try apply(source.volume, to: target, tuning: tuning)
            #expect(report.presentCount + report.appliedCount == 11 && report.digest == digest, "operation \(operation)")
            #expect(try Verification(target).isSound)
            reached.insert(report.presentCount)
        }
        #expect(reached == Set(0...11))
    }

    @Test func `a full disk is reported, and the next apply continues`() throws {
        let source = try Source()
        try source.edit()
        // Each transaction adds operations, and each operation repeats all transactions. The last edit deletes the note of edit 2.
        let edits = LongTests.areWanted ? [0, 1, 2, 3, 4, 5] : [2, 4]
        for number in edits { try source.edit(number) }
        let whole = FaultyVolume()
        _ = try apply(source.volume, to: whole, isOneByOne: true)
        for operation in 0..<whole.operationCount {
            let disk = FaultyVolume()
            disk.fail(at: operation, with: 28)
            let failure = code { _ = try apply(source.volume, to: disk, isOneByOne: true) }
            #expect(
                failure == nil || [.ioFailure, .outcomeUnknown, .notWritable].contains(failure),
                "operation \(operation): \(String(describing: failure))"
            )
            #expect(try apply(source.volume, to: disk).digest == source.store.graph.digest(), "operation \(operation)")
        }
    }

    @Test func `the error of a disk that failed does not state that the call changed nothing`() throws {
        let source = try Source()
        for number in 0..<3 { try source.edit(number) }
        let whole = FaultyVolume()
        _ = try apply(source.volume, to: whole)
        for operation in 0..<whole.operationCount {
            let disk = FaultyVolume()
            disk.fail(at: operation, with: 5)
            do { _ = try apply(source.volume, to: disk) } catch let error as CambiumError {
                #expect(!error.message.contains("This call changed nothing"), "operation \(operation): \(error)")
            }
        }
    }
}

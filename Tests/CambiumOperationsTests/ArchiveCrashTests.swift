import Cambium
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

@Suite struct ArchiveCrashTests {
    private let count = 7

    /// Expects that a store on one shelf and its archive on another are sound together, at any moment of a compaction.
    private func check(_ store: Shelf, _ archive: Shelf, _ root: String, _ place: String) throws {
        let retiredEnd = try LogReader(store).retiredEnd()
        if retiredEnd == .none { return }
        let whole = try Verification(store, archive: archive)
        // HEAD is a hint and is not synced. The next opening writes it again.
        let findings = whole.findings.filter { !$0.hasPrefix("HEAD is ") }
        #expect(findings == [] && whole.root == root && whole.transactionCount == count + 1, "\(place)")
    }

    /// Compacts again, and checks the result of a restore.
    private func finish(_ store: Shelf, _ archive: Shelf, _ export: String, _ place: String) throws {
        let again = try Archiving.reopen(store)
        #expect(again.graph.export == export, "\(place)")
        let compaction = try again.compact(.since(.latest), in: archive)
        #expect(compaction.missingFromArchive.isEmpty, "\(place)")
        try again.close()
        #expect(try archive.list("log").allSatisfy { LogFileName.parse($0) != nil }, "\(place)")
        let whole = try Archiving.restored(store, archive)
        let verification = try Verification(whole)
        #expect(try verification.isSound && verification.root == Verification(store).root, "\(place): \(verification.findings)")
        #expect(try ReadOnlyStore(whole).graph.export == export, "\(place)")
    }

    @Test(.enabled(if: LongTests.areWanted), arguments: [true, false])
    func `a crash or a power failure at any operation leaves all retired transactions in the archive`(links: Bool) throws {
        let measured = FaultyVolume()
        let first = try Archiving.made(Shelf(measured, "store", links: links), count: count)
        let root = try Verification(Shelf(measured, "store")).root
        let begun = measured.operationCount
        try first.compact(.since(.latest), in: Shelf(measured, "archive", links: links))
        let (operationCount, export) = (measured.operationCount, first.graph.export)
        #expect(operationCount > begun + 30)
        var retiredCount = 0
        for operation in begun...operationCount {
            let volume = FaultyVolume()
            let store = try Archiving.made(Shelf(volume, "store", links: links), count: count)
            volume.crash(at: operation)
            do { try store.compact(.since(.latest), in: Shelf(volume, "archive", links: links)) } catch {}  // The process has died.
            for seed in 0..<UInt64(3) {
                let place = "operation \(operation), seed \(seed)"
                let disk = MemoryVolume(contents: volume.image(seed: seed))
                let (store, archive) = (Shelf(disk, "store"), Shelf(disk, "archive"))
                try check(store, archive, root, place)
                if try LogReader(store).retiredEnd() != .none { retiredCount += 1 }
                try finish(store, archive, export, place)
            }
        }
        #expect(retiredCount > 20)
    }

    @Test(.enabled(if: LongTests.areWanted), arguments: [true, false])
    func `a store whose disk is full at any operation stays usable and can be compacted later`(links: Bool) throws {
        let measured = FaultyVolume()
        let first = try Archiving.made(Shelf(measured, "store", links: links), count: count)
        let begun = measured.operationCount
        try first.compact(.since(.latest), in: Shelf(measured, "archive", links: links))
        var failedCount = 0
        for operation in begun..<measured.operationCount {
            let volume = FaultyVolume()
            let shelves = (store: Shelf(volume, "store", links: links), archive: Shelf(volume, "archive", links: links))
            let store = try Archiving.made(shelves.store, count: count)
            let root = try Verification(shelves.store).root
            volume.fail(at: operation, with: 28)
            if code(of: { try store.compact(.since(.latest), in: shelves.archive) }) != nil { failedCount += 1 }
            volume.recover()
            // The disk may refuse to remove `archive.new`, which shows whether the archive is the store's own log.
            let leftovers = try shelves.archive.list("log").filter { LogFileName.parse($0) == nil && $0 != "archive.new" }
            #expect(leftovers == [], "operation \(operation)")
            try check(shelves.store, shelves.archive, root, "operation \(operation)")
            store.abandon()
            try finish(shelves.store, shelves.archive, first.graph.export, "operation \(operation)")
        }
        #expect(failedCount > 20)
    }

    /// Makes a checkpoint and ends the segment with it.
    private func end(_ store: Store) throws {
        try store.checkpoint()
        try store.writer.log?.endSegment(with: store.graph.transaction)
    }

    @Test func `files that another program put into the archive are durable before their transactions are retired`() throws {
        let made = MemoryVolume()
        let first = try Archiving.made(made, count: count)
        try end(first)
        let (root, files) = (try Verification(made).root, made.contents.filter { $0.key.hasPrefix("log/") })
        let volume = FaultyVolume()
        let (shelf, archive) = (Shelf(volume, "store"), Shelf(volume, "archive"))
        let store = try Archiving.made(shelf, count: count)
        try end(store)
        let segments = try LogDirectory.segments(shelf, upTo: store.graph.transaction)
        for (path, bytes) in files where segments.contains(where: { path.hasSuffix(".ops") || path == LogFileName.path($0, .segment) }) {
            try archive.open(path, .create).write(bytes, at: 0)
        }
        #expect(try store.compact(.checkpoints(1), in: archive).archivedSegmentCount == 0)
        for seed in 0..<UInt64(8) {
            let disk = MemoryVolume(contents: volume.image(seed: seed))
            try check(Shelf(disk, "store"), Shelf(disk, "archive"), root, "seed \(seed)")
        }
    }

    /// - Parameter isThere: Whether another program has already put the files of the log into the archive.
    @Test(arguments: [true, false], [true, false])
    func `a failed sync of the archive never leads to the loss of retired transactions`(isThere: Bool, links: Bool) throws {
        let made = MemoryVolume()
        try end(Archiving.made(made, count: count))
        let (root, files) = (try Verification(made).root, made.contents.filter { $0.key.hasPrefix("log/") })
        func prepared() throws -> (volume: FaultyVolume, store: Store, shelf: Shelf, archive: Shelf) {
            let volume = FaultyVolume()
            let (shelf, archive) = (Shelf(volume, "store", links: links), Shelf(volume, "archive", links: links))
            let store = try Archiving.made(shelf, count: count)
            try end(store)
            let segments = try LogDirectory.segments(shelf, upTo: store.graph.transaction)
            for (path, bytes) in files where isThere {
                guard path.hasSuffix(".ops") || segments.contains(where: { path == LogFileName.path($0, .segment) }) else { continue }
                try archive.open(path, .create).write(bytes, at: 0)
            }
            return (volume, store, shelf, archive)
        }
        let measured = try prepared()
        let begun = measured.volume.operationCount
        try measured.store.compact(.checkpoints(1), in: measured.archive)
        var (failedCount, retiredCount) = (0, 0)
        // In a fast test, the volumes with links and those without links fail at different operations.
        let step = LongTests.areWanted ? 1 : 4
        let first = LongTests.areWanted || links ? begun : begun + 2
        for operation in stride(from: first, to: measured.volume.operationCount, by: step) {
            let (volume, store, shelf, archive) = try prepared()
            volume.fail(at: operation, with: 5)
            if code(of: { try store.compact(.checkpoints(1), in: archive) }) != nil { failedCount += 1 }
            store.abandon()
            let again = try Archiving.reopen(shelf)
            try again.compact(.checkpoints(1), in: archive)
            if try LogReader(shelf).retiredEnd() != .none { retiredCount += 1 }
            for seed in 0..<UInt64(LongTests.caseCount(3, usual: 1)) {
                let disk = MemoryVolume(contents: volume.image(seed: seed))
                try check(Shelf(disk, "store"), Shelf(disk, "archive"), root, "operation \(operation), seed \(seed)")
            }
            again.abandon()
        }
        #expect(failedCount * step > 20 && retiredCount * step > 20)
    }

    @Test(arguments: [true, false])
    func `files of the log that are not on the disk yet are durable in the archive`(links: Bool) throws {
        let made = MemoryVolume()
        let store = try Archiving.made(made, count: count)
        try end(store)
        let volume = FaultyVolume()
        let (shelf, archive) = (Shelf(volume, "store", links: links), Shelf(volume, "archive", links: links))
        for (path, bytes) in made.contents { try shelf.open(path, .create).write(bytes, at: 0) }
        let segments = try LogDirectory.segments(shelf, upTo: store.graph.transaction)
        let added = try SegmentArchive(adding: archive, of: LogReader(made).settings.store).add(segments, from: shelf)
        #expect(added.segmentCount == segments.count && segments.count > 2)
        for seed in 0..<UInt64(8) {
            let image = volume.image(seed: seed)
            for segment in segments {
                let path = LogFileName.path(segment, .segment)
                #expect(image["archive/" + path] == made.contents[path], "\(path), seed \(seed)")
            }
        }
    }

    @Test func `a restore that fails at any operation can be repeated in the same place`() throws {
        let (volume, archive, root) = try Archiving.compacted(count: 4)
        let sources: [any Volume] = [try ArchivedVolume(volume, archive: archive), volume]
        // In a fast test, the restores from the two sources fail at different operations.
        let step = LongTests.areWanted ? 1 : 2
        for (number, source) in sources.enumerated() {
            let measured = FaultyVolume()
            _ = try Backup(source, to: measured)
            for operation in stride(from: number % step, to: measured.operationCount, by: step) {
                let target = FaultyVolume()
                target.fail(at: operation, with: 28)
                do { _ = try Backup(source, to: target) } catch {
                    let names = target.contents.keys.sorted()
                    #expect(names.allSatisfy { $0 == LogWriter.lockFileName }, "operation \(operation): \(names)")
                    _ = try Backup(source, to: target)
                }
                #expect(try Verification(target).root == root, "operation \(operation)")
            }
        }
    }
}

import Cambium
import CambiumModel
import CambiumTesting
import Dispatch
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumOperations
@testable import CambiumStore

/// The ways to create a store.
enum Creation: CaseIterable, Sendable {
    case initial, backup, restore, apply, repair

    func run(_ source: MemoryVolume, to target: any Volume) throws {
        switch self {
        case .initial: try Store.create(target, schema: Notes.schema, durability: .synced, environment: fixedEnvironment()).close()
        case .backup: _ = try Backup(source, to: target)
        case .restore: _ = try Backup(source, to: target, last: TransactionNumber(rawValue: 3), environment: fixedEnvironment(seed: 3))
        case .apply: _ = try Store.apply(from: source, to: target, environment: fixedEnvironment(seed: 4))
        case .repair: _ = try Repair(source, to: target, environment: fixedEnvironment(seed: 5))
        }
    }

    /// Makes a closed store with a checkpoint and four transactions.
    static func source() throws -> MemoryVolume {
        let volume = MemoryVolume()
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(seed: 2), tuning: .tiny)
        for number in 0..<3 {
            try store.write { try $0.insert("Note", ["id": .int(Int64(number)), "title": .string(String(repeating: "t", count: 90))]) }
            if number == 1 { try store.checkpoint() }
        }
        try store.close()
        return volume
    }
}

@Suite struct CreationTests {
    // MARK: Directories that are not empty

    private func mark(_ names: [String], isFinished: Bool = false) -> [UInt8] {
        var (mark, bytes) = CreationMark.begin(store: [UInt8](0..<16))
        for name in names { bytes += mark.add(name) }
        return bytes + (isFinished ? mark.finish() : [])
    }

    private var foreign: [String: [String: [UInt8]]] {
        let (head, segment) = ([UInt8](repeating: 0, count: 128), "log/00000000000000000001.log")
        return [
            "a text": ["notes.txt": [1]], "a log of another program": ["log/server.log": [1, 2]], "roots": ["roots/oak": [1]],
            "pages": ["pages-of-a-book": [1]], "pages of a store": ["pages-00000000000000ff": [1]], "HEAD alone": ["HEAD": head],
            "the beginning of a segment": [segment: [UInt8](repeating: 0, count: 96)],
            "a file of the mark's name": ["CREATING": [1, 2, 3]],
            "a mark and another file": ["CREATING": mark(["HEAD"]), "HEAD": head, "notes.txt": [1]],
            "a mark and another file in log": ["CREATING": mark([segment]), segment: [1], "log/00000000000000000002.log": [1]],
            "a mark that names a file which is not ours": ["CREATING": mark(["notes.txt"]), "notes.txt": [1]],
            "a torn mark and a file": ["CREATING": [], "HEAD": head],
            "a mark that is finished": ["CREATING": mark(["HEAD"], isFinished: true), "HEAD": head],
        ]
    }

    @Test(arguments: Creation.allCases)
    func `a creation touches nothing in a directory that has other files`(creation: Creation) throws {
        let source = try Creation.source()
        for (what, files) in foreign {
            let target = MemoryVolume(contents: files)
            #expect(code { try creation.run(source, to: target) } == .cannotCreate, "\(what)")
            #expect(target.contents == files, "\(what)")
        }
    }

    @Test(arguments: Creation.allCases)
    func `a creation does not touch a store that has lost its settings`(creation: Creation) throws {
        let source = try Creation.source()
        var files = source.contents
        files[StoreSettings.fileName] = nil
        #expect(files.keys.contains { $0.hasPrefix("pages-") } && files.keys.contains { $0.hasPrefix("roots/") })
        let target = MemoryVolume(contents: files)
        #expect(code { try creation.run(source, to: target) } == .cannotCreate && target.contents == files)
    }

    // MARK: Interruptions

    @Test(.enabled(if: LongTests.areWanted), arguments: Creation.allCases)
    func `a creation that is interrupted at any operation leaves the whole store or can be repeated`(creation: Creation) throws {
        let source = try Creation.source()
        let whole = FaultyVolume()
        try creation.run(source, to: whole)
        var (completeCount, againCount) = (0, 0)
        for operation in 0...whole.operationCount {
            let volume = FaultyVolume()
            volume.crash(at: operation)
            try? creation.run(source, to: volume)
            for seed in 0..<UInt64(3) {
                let disk = MemoryVolume(contents: volume.image(seed: seed))
                let isComplete = try expectWhole(disk, creation, source, "operation \(operation), seed \(seed)")
                if isComplete { completeCount += 1 } else { againCount += 1 }
            }
        }
        #expect(completeCount > 0 && againCount > 10)
    }

    /// Returns whether the disk had a store, and creates the store again otherwise. Expects a sound store in both cases.
    private func expectWhole(_ disk: MemoryVolume, _ creation: Creation, _ source: MemoryVolume, _ place: String) throws -> Bool {
        let before = disk.contents
        let found = code { _ = try ReadOnlyStore(disk) }
        #expect(found == nil || found == .notFound, "\(place)")
        #expect(code { _ = try Verification(disk) } == found && code { try Store.open(disk, durability: nil).close() } == found, "\(place)")
        if found == nil, creation != .apply { #expect(code { try creation.run(source, to: disk) } == .cannotCreate, "\(place)") }
        if found != nil {
            #expect(disk.contents == before, "\(place)")
            #expect(code { try creation.run(source, to: disk) } == nil, "\(place)")
        }
        let verification = try Verification(disk)
        #expect(verification.isSound && verification.findings.isEmpty, "\(place): \(verification.findings)")
        #expect(try ReadOnlyStore(disk).graph.schema.entity("Note") != nil && disk.contents["CREATING"] == nil, "\(place)")
        return found == nil
    }

    @Test(arguments: Creation.allCases)
    func `a creation that fails leaves the directory unchanged`(creation: Creation) throws {
        let source = try Creation.source()
        let whole = FaultyVolume()
        try creation.run(source, to: whole)
        var failedCount = 0
        for operation in 0..<whole.operationCount {
            let volume = FaultyVolume()
            volume.fail(at: operation, with: 28)
            guard (try? creation.run(source, to: volume)) == nil else { continue }
            failedCount += 1
            if creation == .apply, (try? ReadOnlyStore(volume)) != nil { continue }
            #expect(volume.contents.isEmpty, "operation \(operation): \(volume.contents.keys.sorted())")
        }
        #expect(failedCount > 5)
    }

    @Test func `a new store that cannot be read is removed`() throws {
        func create(_ volume: FaultyVolume) throws {
            try Store.create(volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment()).abandon()
        }
        let whole = FaultyVolume()
        try create(whole)
        var failedCount = 0
        for read in 0..<whole.readCount {
            let volume = FaultyVolume()
            volume.failRead(at: read, with: 5)
            guard (try? create(volume)) == nil else { continue }
            failedCount += 1
            #expect(volume.contents.isEmpty, "read \(read): \(volume.contents.keys.sorted())")
            #expect(code { try create(volume) } == nil, "read \(read)")
        }
        #expect(failedCount > 5)
    }

    @Test func `no reader accepts a store whose log has no transaction`() throws {
        let volume = MemoryVolume()
        let settings = StoreSettings(store: [UInt8](0..<16), creationTime: 1, durability: .synced)
        try LogWriter.create(volume, settings, saltSeed: [UInt8](repeating: 1, count: 16))
        let files = volume.contents
        let attempts: [String: () throws -> Void] = [
            "open": { _ = try Store.open(volume, durability: nil) }, "read": { _ = try ReadOnlyStore(volume) },
            "verify": { _ = try Verification(volume) }, "follow": { _ = try StoreFollower(volume) },
            "back up": { _ = try Backup(volume, to: MemoryVolume()) },
            "apply": { _ = try Store.apply(from: volume, to: MemoryVolume()) }, "log": { try TransactionLog(volume).forEach { _ in } },
            "repair": { _ = try Repair(volume, to: MemoryVolume(), environment: fixedEnvironment()) },
            "apply to it": { _ = try Store.apply(from: try Creation.source(), to: volume) }, "count": { _ = try Statistics(volume) },
        ]
        for (what, attempt) in attempts { #expect(code(of: attempt) == .notFound, "\(what)") }
        #expect(volume.contents == files)
    }

    // MARK: Concurrent creations

    @Test func `one of several creations at once in one directory succeeds, and nothing is mixed`() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "cambium-creation-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }  // The operating system removes leftovers.
        for round in 0..<20 {
            let path = "\(directory)/\(round)"
            let winners = Atomic(0)
            let others = Atomic(0)
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                let found = code { try Store.create(at: path, schema: Notes.schema).close() }
                if found == nil { winners.add(1, ordering: .relaxed) }
                if found == .cannotCreate || found == .locked { others.add(1, ordering: .relaxed) }
            }
            #expect(winners.load(ordering: .relaxed) == 1 && others.load(ordering: .relaxed) == 3)
            let verification = try Store.verify(at: path)
            #expect(verification.isSound && verification.findings.isEmpty && verification.transactionCount == 1)
        }
    }

    @Test func `several processes at once that open a store or create it use the same store`() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "cambium-creation-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }  // The operating system removes leftovers.
        for round in 0..<20 {
            let path = "\(directory)/\(round)"
            let openedCount = Atomic(0)
            let lockedCount = Atomic(0)
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                let found = code { try Store.open(at: path, creating: Notes.schema).close() }
                if found == nil { openedCount.add(1, ordering: .relaxed) }
                if found == .locked { lockedCount.add(1, ordering: .relaxed) }
                if let found, found != .locked { Issue.record("code \(found)") }
            }
            let opened = openedCount.load(ordering: .relaxed)
            #expect(opened > 0 && opened + lockedCount.load(ordering: .relaxed) == 4)
            #expect(try Store.verify(at: path).transactionCount == 1)
        }
    }

    // MARK: Paths

    @Test func `a creation whose path is too long for its files leaves the directory unchanged`() throws {
        let top = FileManager.default.temporaryDirectory.appending(path: "cambium-long-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: top) }  // The operating system removes leftovers.
        // A path has at most 4,095 bytes. That is enough for the mark of the creation, but not for the first segment.
        var path = top
        while path.utf8.count < 4075 {
            let rest = 4075 - path.utf8.count - 1
            path += "/" + String(repeating: "d", count: rest > 255 ? 100 : rest)
        }
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        #expect(code { _ = try Store.create(at: path, schema: Notes.schema) } == .cannotCreate)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path) == [])
    }

    // MARK: After a creation

    /// A process that dies leaves bytes that are not durable yet, and the next process sees them.
    @Test func `a store that is used after its creation was cut short survives a power failure`() throws {
        for operation in 0... {
            let volume = FaultyVolume()
            volume.crash(at: operation)
            do { try Creation.initial.run(MemoryVolume(), to: volume) } catch {}  // The process died.
            let hasDied = volume.isDead
            volume.recover()
            if try StoreSettings.isPresent(volume) { try use(volume, "after operation \(operation)") }
            if !hasDied { return }
        }
    }

    /// Commits to a store, lets the process die and lets the power fail.
    private func use(_ volume: FaultyVolume, _ moment: String) throws {
        let store = try Store.open(volume, durability: .synced, environment: fixedEnvironment(seed: 6))
        try store.write { _ = try $0.insert("Note", ["id": .int(1)]) }
        store.abandon()
        for seed in 0..<8 as Range<UInt64> {
            let disk = MemoryVolume(contents: volume.image(seed: seed))
            #expect(try StoreSettings.isPresent(disk), "\(moment), seed \(seed)")
            #expect(try ReadOnlyStore(disk).graph.objectCount == 1, "\(moment), seed \(seed)")
        }
    }
}

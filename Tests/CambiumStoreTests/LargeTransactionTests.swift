import Cambium
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

@Suite struct LargeTransactionTests {
    private static let file = "log/00000000000000000002.ops"

    /// Makes a store in which the ops of a transaction of more than a few objects have their own file.
    private func store(_ volume: any Volume, _ durability: Durability = .synced) throws -> Store {
        try Store.create(volume, schema: Notes.schema, durability: durability, environment: fixedEnvironment(), tuning: .tiny)
    }

    private func insert(_ numbers: Range<Int>, _ transaction: inout WriteTransaction) throws {
        for number in numbers {
            try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string("note \(number)")])
        }
    }

    private func names(_ volume: any Volume) throws -> [String] {
        // The schema has its own file as well.
        try volume.list("log").filter { !$0.hasSuffix(".log") && $0 != "00000000000000000001.ops" }
    }

    /// Makes the files of a closed store with a large transaction.
    private func files() throws -> [String: [UInt8]] {
        let volume = MemoryVolume()
        let store = try store(volume)
        try store.write { try insert(0..<10, &$0) }
        try store.close()
        return volume.contents
    }

    @Test(.enabled(if: LongTests.areWanted))
    func `the ops of a large import lie in a separate file that a small frame names`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        let rows = (0..<60_000).map { number in
            let noise = [0x1E37_79B9_7F4A_7C15, 0x2545_F491_4F6C_DD1D, 2_654_435_761].map { "\(number &* $0)" }
            return "{\"id\":\(number),\"title\":\"a title that is long enough: \(noise.joined(separator: ", "))\"}"
        }
        let report = try store.importing("Note", rows.joined(separator: "\n"))
        #expect(report.counts.inserted == 60_000)
        try store.close()
        let byteCount = try #require(volume.contents[Self.file]).count
        #expect(try names(volume) == ["00000000000000000002.ops"])
        let segment = try #require(volume.contents["log/00000000000000000001.log"])
        #expect(segment.count < 4096 && report.logByteCount > byteCount && report.logByteCount < byteCount + 100)
        #expect(try Store.reopened(volume).graph.digest() == store.graph.digest())
        let verification = try Verification(volume)
        let log = volume.contents.filter { $0.key.hasPrefix("log/") }
        #expect(verification.isSound && verification.logByteCount == log.reduce(0) { $0 + $1.value.count })
        var entries: [TransactionLog.Entry] = []
        try TransactionLog(volume).forEach { entries.append($0) }
        #expect(try entries[1].byteCount == report.logByteCount && entries[1].ops().count == 8)
        let target = MemoryVolume()
        let repair = try Repair(volume, to: target, environment: fixedEnvironment())
        #expect(repair.findings.isEmpty && repair.root == verification.root)
        #expect(try Store.reopened(target).graph.digest() == store.graph.digest())
    }

    @Test(arguments: [Durability.synced, .buffered(every: .seconds(60))])
    func `a large transaction is invisible before its commit, and an abandoned one leaves nothing`(durability: Durability) throws {
        struct Withdrawn: Error {}
        let volume = MemoryVolume()
        let store = try store(volume, durability)
        let before = store.graph.export
        #expect(throws: Withdrawn.self) {
            try store.write { transaction in
                try insert(0..<100, &transaction)
                #expect(try names(volume) == ["00000000000000000002.pending"])
                #expect(store.graph.export == before)
                #expect(try ReadOnlyStore(volume).graph.export == before)
                #expect(try Verification(volume).isSound)
                throw Withdrawn()
            }
        }
        #expect(try names(volume).isEmpty && store.graph.export == before)
        // A transaction that breaks a rule of the schema is abandoned as well.
        #expect(
            code {
                try store.write { transaction in
                    try insert(0..<100, &transaction)
                    try insert(0..<1, &transaction)
                }
            } == .ruleViolated)
        #expect(try names(volume).isEmpty)
        try store.write { try insert(0..<100, &$0) }
        #expect(try names(volume) == ["00000000000000000002.ops"] && store.graph.objectCount == 100)
    }

    /// Returns an empty store on a disk whose operations can fail.
    private func begun() throws -> (FaultyVolume, Store) {
        let volume = FaultyVolume()
        return (volume, try store(volume))
    }

    @Test func `a disk that is full at any operation of a large transaction leaves all of it or nothing`() throws {
        let (measured, first) = try begun()
        let start = measured.operationCount
        try first.write { try insert(0..<10, &$0) }
        let operations = start..<measured.operationCount
        #expect(operations.count > 10)
        var (failureCount, poisonedCount) = (0, 0)
        for operation in operations {
            let (volume, store) = try begun()
            let before = store.graph.export
            volume.fail(at: operation, with: 28)
            if let failure = code(of: { try store.write { try insert(0..<10, &$0) } }) {
                failureCount += 1
                #expect([.ioFailure, .outcomeUnknown].contains(failure) && store.graph.export == before, "operation \(operation)")
                if let again = code(of: { try store.write { try insert(0..<10, &$0) } }) {
                    // After any failed sync of the log, the store does not rely on a later sync and writes nothing more.
                    #expect(again == .notWritable && failure == .outcomeUnknown, "operation \(operation)")
                    poisonedCount += 1
                    store.abandon()
                    let next = try Store.open(volume, durability: nil, tuning: .tiny)
                    #expect(try [0, 10].contains(next.graph.objectCount) && Verification(volume).isSound)
                    continue
                }
                #expect(try names(volume) == ["00000000000000000002.ops"] && store.graph.objectCount == 10, "operation \(operation)")
            }
            try store.close()
            let disk = MemoryVolume(contents: volume.image(seed: UInt64(operation)))
            #expect(try Store.open(disk, durability: nil).graph.export == store.graph.export, "operation \(operation)")
            #expect(try Verification(disk).isSound, "operation \(operation)")
        }
        #expect(failureCount > 8 && poisonedCount == 1)
    }

    @Test func `the file of a large transaction that failed does not return after a power failure`() throws {
        let (measured, first) = try begun()
        let start = measured.operationCount
        try first.write { try insert(0..<10, &$0) }
        var reusedCount = 0
        for operation in start..<measured.operationCount {
            let (volume, store) = try begun()
            volume.fail(at: operation, with: 28)
            guard code(of: { try store.write { try insert(0..<10, &$0) } }) != nil,
                (try? store.write { try $0.insert("Tag", ["name": "x"]) }) != nil
            else { continue }
            // The small transaction has the number of the large one.
            try #require(store.graph.transaction.rawValue == 2)
            reusedCount += 1
            for seed in 0..<UInt64(8) {
                let disk = MemoryVolume(contents: volume.image(seed: seed))
                try Store.open(disk, durability: nil, tuning: .tiny).close()
                #expect(try names(disk).isEmpty, "operation \(operation), seed \(seed)")
            }
            store.abandon()
        }
        #expect(reusedCount > 5)
    }

    @Test(.enabled(if: LongTests.areWanted))
    func `a file of ops that is corrupt, truncated, missing or extended is never accepted`() throws {
        let files = try files()
        let bytes = try #require(files[Self.file])
        var broken: [[UInt8]?] = [nil]
        for offset in bytes.indices {
            var corrupted = bytes
            corrupted[offset] ^= 1 << UInt8(offset % 8)
            broken += [corrupted, Array(bytes.prefix(offset))]
        }
        broken.append(bytes + [0])
        for (number, content) in broken.enumerated() {
            var files = files
            files[Self.file] = content
            let volume = MemoryVolume(contents: files)
            #expect(code { _ = try Store.open(volume, durability: nil) } == .corrupted, "variant \(number)")
            #expect(volume.contents == files)
            #expect(code { _ = try ReadOnlyStore(volume) } == .corrupted)
            #expect(try !Verification(volume).isSound, "variant \(number)")
        }
    }

    @Test func `leftovers of an interrupted transaction are removed, and files that a frame names are kept`() throws {
        var files = try files()
        let bytes = try #require(files[Self.file])
        files["log/00000000000000000003.pending"] = Array(bytes.prefix(150))
        files["log/00000000000000000003.ops"] = bytes
        files["log/00000000000000000001.log.new"] = [1, 2, 3]
        #expect(try Verification(MemoryVolume(contents: files)).isSound)
        let volume = MemoryVolume(contents: files)
        let store = try Store.open(volume, durability: nil, tuning: .tiny)
        #expect(try names(volume) == ["00000000000000000002.ops"])
        try store.write { try insert(10..<20, &$0) }
        try store.close()
        #expect(try Store.reopened(volume).graph.objectCount == 20)
    }
}

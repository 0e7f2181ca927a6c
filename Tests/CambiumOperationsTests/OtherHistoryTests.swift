import Cambium
import CambiumBytes
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumOperations
@testable import CambiumStore

/// Merkle trees of checkpoints, and well-formed transactions of another history in place of durable ones.
@Suite struct OtherHistoryTests {
    private static let tuning: LogTuning = {
        var tuning = LogTuning.tiny
        (tuning.segmentByteCount, tuning.largeByteCount, tuning.sealsSegments) = (1 << 20, 500, false)
        return tuning
    }()

    /// The difference between two histories.
    enum Difference: CaseIterable {
        /// The actor of a transaction.
        case actor
        /// A value that a later transaction changes again.
        case value
    }

    private func add(_ store: Store, _ number: Int, _ differing: Difference?, at place: Int = 4) throws {
        let isDiffering = number == place
        let actor = isDiffering ? (differing == .actor ? "olga" : "nora") : "anna"
        try store.write(Author(actor: actor)) { transaction in
            let title = isDiffering && differing == .value ? "one" : "two"
            try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string(title)])
            let before = transaction.find(try transaction.schema.required("Note"), identity: [.int(Int64(number - 1))])
            if let before { try transaction.set(before, "title", to: .string("set")) }
        }
    }

    /// Makes a history of 13 transactions with checkpoints of the fifth and the twelfth. The files have the same lengths, whatever differs.
    private func made(
        _ differing: Difference?, isSealed: Bool, at place: Int = 4, tuning: LogTuning = OtherHistoryTests.tuning
    ) throws -> (volume: MemoryVolume, digest: GraphDigest) {
        let volume = MemoryVolume()
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning)
        for number in 0..<4 { try add(store, number, differing, at: place) }
        try store.checkpoint()
        for number in 4..<11 { try add(store, number, differing, at: place) }
        try store.checkpoint()
        if isSealed {
            try store.writer.log?.endSegment(with: store.graph.transaction)
            try #require(store.commits.sealing).whileNoneIsSealed { sealer, _ in _ = try sealer.seal(TransactionNumber(rawValue: 1)) }
        }
        try add(store, 11, differing, at: place)
        try store.close()
        return (volume, store.graph.digest())
    }

    @Test(arguments: Difference.allCases, [false, true])
    func `the Merkle tree reveals a transaction of another history in the middle of the log`(
        difference: Difference, isSealed: Bool
    ) throws {
        let (own, digest) = try made(nil, isSealed: isSealed)
        let (other, otherDigest) = try made(difference, isSealed: isSealed)
        #expect(try Verification(own).findings == [] && Verification(other).findings == [] && digest == otherDigest)
        var contents = own.contents
        for (path, bytes) in other.contents where path.hasPrefix("log/") { contents[path] = bytes }
        #expect(contents != own.contents)
        let forged = MemoryVolume(contents: contents)
        // Only the tree reveals the forgery: the log verifies, and all checkpoints result in the same graph.
        let verification = try Verification(forged)
        #expect(verification.digest == digest && verification.transactionCount == 13 && !verification.isSound)
        #expect(verification.findings.count == 1 && verification.findings[0].contains("transactions 6 to 12"), "\(verification.findings)")
        #expect(try ReadOnlyStore(forged).graph.digest() == digest)
    }

    @Test(arguments: [false, true])
    func `HEAD reveals a transaction of another history after the newest checkpoint`(isSealed: Bool) throws {
        let (own, _) = try made(nil, isSealed: isSealed, at: 11)
        let (other, _) = try made(.actor, isSealed: isSealed, at: 11)
        var contents = own.contents
        for (path, bytes) in other.contents where path.hasPrefix("log/") { contents[path] = bytes }
        #expect(contents != own.contents)
        let verification = try Verification(MemoryVolume(contents: contents))
        #expect(verification.findings.count == 1 && verification.findings[0].contains("HEAD"), "\(verification.findings)")
        // An opening accepts the existing log.
        let store = try Store.reopened(MemoryVolume(contents: contents))
        #expect(store.recovery.notes == [])
    }

    @Test(arguments: [0, 128 << 10], [false, true])
    func `HEAD still reveals a transaction of another history after more writes`(byteCountMax: Int, makesCheckpoints: Bool) throws {
        let (own, _) = try made(nil, isSealed: false, at: 11)
        let (other, _) = try made(.actor, isSealed: false, at: 11)
        var contents = own.contents
        for (path, bytes) in other.contents where path.hasPrefix("log/") { contents[path] = bytes }
        let forged = MemoryVolume(contents: contents)
        var tuning = Self.tuning
        tuning.closingTreeByteCountMax = byteCountMax
        try expectFinding(of: forged, tuning, makesCheckpoints)
    }

    /// Writes to a forged store several times, and expects each time that `verify` still finds the contradiction in HEAD.
    private func expectFinding(of forged: MemoryVolume, _ tuning: LogTuning, _ makesCheckpoints: Bool) throws {
        for round in 0..<3 {
            let store = try Store.open(forged, durability: nil, environment: fixedEnvironment(seed: 3), tuning: tuning)
            try add(store, 40 + round, nil)
            if makesCheckpoints { try store.checkpoint() }
            try store.close()
            let findings = try Verification(forged).findings
            #expect(findings.count == 1 && findings[0].contains("HEAD"), "round \(round): \(findings)")
        }
    }

    @Test(arguments: [false, true])
    func `HEAD reveals another history although its checkpoints were replaced, too`(makesCheckpoints: Bool) throws {
        var tuning = Self.tuning
        // HEAD gets the tree of the newest checkpoint, because a closing hashes no part of the log.
        tuning.closingTreeByteCountMax = 0
        let (own, _) = try made(nil, isSealed: false, tuning: tuning)
        var contents = try made(.actor, isSealed: false, tuning: tuning).volume.contents
        contents[Head.fileName] = own.contents[Head.fileName]
        let forged = MemoryVolume(contents: contents)
        try expectFinding(of: forged, tuning, makesCheckpoints)
    }

    @Test func `HEAD has the tree of the whole log, or of the newest checkpoint if the rest of the log is too long`() throws {
        for (byteCountMax, expected) in [(128 << 10, 13), (10, 12)] {
            var tuning = Self.tuning
            tuning.closingTreeByteCountMax = byteCountMax
            let (volume, _) = try made(nil, isSealed: false, tuning: tuning)
            let tree = try #require(try LogReader(volume).headTree)
            #expect(tree.transaction.rawValue == UInt64(expected))
            if expected == 13 { #expect(try HexText.encode(tree.root) == Verification(volume).root) }
            #expect(try Verification(volume).findings == [])
            // A process that dies leaves a HEAD with the earlier tree.
            let again = try reopen(volume)
            try add(again, 30, nil)
            again.abandon()
            #expect(try LogReader(volume).headTree == tree && Verification(volume).findings == [])
        }
    }

    // MARK: Sources of trees

    /// Expects that each checkpoint has the Merkle tree of the log up to it.
    private func checkTrees(_ volume: any Volume, countMin: Int) throws {
        let reader = try LogReader(volume)
        var trees: [TransactionNumber: MerkleTree] = [:]
        var tree = LogTree()
        _ = try reader.scan { record in
            try tree.append(record)
            trees[record.number] = tree.tree
        }
        let roots = try CheckpointRecord.list(volume)
        #expect(roots.count >= countMin)
        for number in roots {
            #expect(try PageFile.tree(volume, store: reader.settings.store, number) == trees[number], "\(number)")
        }
        #expect(try Verification(volume).findings == [])
    }

    private func create(_ volume: any Volume) throws -> Store {
        try Store.create(volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: .tiny)
    }

    private func reopen(_ volume: any Volume) throws -> Store {
        try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: 3), tuning: .tiny)
    }

    @Test func `each checkpoint has the tree of the log across segments, files of ops, openings and a crash`() throws {
        let volume = MemoryVolume()
        var store = try create(volume)
        for round in 0..<6 {
            for number in 0..<5 { try add(store, round * 10 + number, nil) }
            try store.checkpoint()
            if round == 2 { try store.close() }
            if round == 4 { store.abandon() }
            if round == 2 || round == 4 { store = try reopen(volume) }
        }
        try checkTrees(volume, countMin: 2)
        try store.close()
    }

    @Test func `a compaction, an archive and a backup keep the trees`() throws {
        let volume = MemoryVolume()
        let store = try create(volume)
        for round in 0..<4 {
            for number in 0..<5 { try add(store, round * 10 + number, nil) }
            try store.checkpoint()
        }
        let archive = MemoryVolume()
        _ = try store.compact(.since(.transaction(TransactionNumber(rawValue: 13))), into: archive, isDryRun: false)
        try checkTrees(volume, countMin: 2)
        for number in 50..<55 { try add(store, number, nil) }
        try store.checkpoint()
        let copy = MemoryVolume()
        _ = try Backup(volume, to: copy)
        try checkTrees(copy, countMin: 2)
        try checkTrees(volume, countMin: 2)
        try store.close()
        #expect(try Verification(volume, archive: archive).findings == [])
    }

    @Test func `a repair and a copy of an earlier moment have the trees of their own logs`() throws {
        let volume = MemoryVolume()
        let store = try create(volume)
        for number in 0..<10 { try add(store, number, nil) }
        try store.checkpoint()
        for number in 10..<15 { try add(store, number, nil) }
        try store.close()
        // A byte in the middle of the log is changed, so the checkpoint replaces the transactions before it.
        var contents = volume.contents
        let segment = LogFileName.path(try LogDirectory.segments(volume)[1], .segment)
        contents[segment]?[100] ^= 1
        let repaired = MemoryVolume()
        let repair = try Repair(MemoryVolume(contents: contents), to: repaired, environment: fixedEnvironment(seed: 7))
        #expect(!repair.missing.isEmpty && repair.transactionCount == 16)
        let early = MemoryVolume()
        _ = try Backup(volume, to: early, last: TransactionNumber(rawValue: 6), environment: fixedEnvironment(seed: 8))
        for (copy, count) in [(repaired, 15), (early, 5)] {
            let again = try reopen(copy)
            #expect(again.graph.objectCount == count)
            try again.checkpoint()
            try again.close()
            try checkTrees(copy, countMin: 1)
        }
    }

    @Test func `an unreadable log leaves a checkpoint without a tree, and is reported`() throws {
        let volume = MemoryVolume()
        let store = try create(volume)
        for number in 0..<10 { try add(store, number, nil) }
        try store.checkpoint()
        try store.close()
        var contents = volume.contents
        // The checkpoint has no tree, like one of an earlier format, and a segment before it is corrupt.
        let number = try #require(try CheckpointRecord.list(volume).first)
        var root = try #require(try PageFile.root(volume, store: StoreSettings.read(volume).store, number)).record
        root.tree = nil
        contents[CheckpointRecord.path(number)] = root.encode().record
        let segment = LogFileName.path(try LogDirectory.segments(volume)[1], .segment)
        contents[segment]?[100] ^= 1
        let corrupt = MemoryVolume(contents: contents)
        let again = try reopen(corrupt)
        try add(again, 20, nil)
        try again.checkpoint()
        try again.close()
        let newest = try #require(try CheckpointRecord.list(corrupt).first)
        #expect(try newest > number && PageFile.tree(corrupt, store: root.store, newest) == nil)
        #expect(try !Verification(corrupt).isSound && reopen(corrupt).graph.objectCount == 11)
    }

    @Test func `HEAD gets no wrong tree if the log is readable again at closing`() throws {
        let volume = MemoryVolume()
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: Self.tuning)
        try add(store, 0, nil)
        try store.checkpoint()
        let place = try #require(store.writer.log).position + 10
        for number in 1..<10 { try add(store, number, nil) }
        let file = try volume.open(LogFileName.path(TransactionNumber(rawValue: 1), .segment), .update)
        let byte = try file.read(at: place, count: 1)
        try file.write([byte[0] ^ 1], at: place)
        try store.checkpoint()
        try file.write(byte, at: place)
        try store.close()
        #expect(try Verification(volume).findings == [])
    }

    @Test func `a forged tree of a checkpoint is reported`() throws {
        let (volume, _) = try made(nil, isSealed: false)
        let number = TransactionNumber(rawValue: 12)
        var root = try #require(try PageFile.root(volume, store: StoreSettings.read(volume).store, number)).record
        var subtrees = try #require(root.tree).subtrees
        subtrees[0] = .node(subtrees[0], subtrees[0])
        root.tree = MerkleTree(leafCount: 12, subtrees: subtrees)
        try volume.replace(CheckpointRecord.path(number), root.encode().record)
        #expect(try Verification(volume).findings.count == 1 && ReadOnlyStore(volume).recovery.checkpoint == number)
        #expect(MerkleTree(leafCount: 13, subtrees: subtrees) == nil && MerkleTree(leafCount: 12, subtrees: []) == nil)
    }
}

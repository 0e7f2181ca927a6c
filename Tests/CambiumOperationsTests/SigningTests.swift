import Cambium
import CambiumModel
import CambiumProofs
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog

/// Notes, proofs and tiles of stores.
@Suite struct SigningTests {
    private let key: SigningKey
    private let witnessKey: SigningKey

    init() throws {
        key = try SigningKey(name: "example.com/notes", kind: .log, secret: Array(repeating: 1, count: 32))
        witnessKey = try SigningKey(name: "example.org/witness", kind: .witness, secret: Array(repeating: 2, count: 32))
    }

    private var trust: Trust { .key(key.verifier) }

    private func made(_ volume: any Volume, count: Int, seed: UInt64 = 0, tuning: LogTuning = .tiny) throws -> Store {
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(seed: seed), tuning: tuning)
        try add(store, 1..<count)
        return store
    }

    private func add(_ store: Store, _ numbers: Range<Int>) throws {
        for number in numbers {
            try store.write(Author(actor: "actor \(number % 3)", message: "m\(number)")) {
                try $0.insert("Note", ["id": .int(Int64(number)), "title": .string("title \(number)")])
            }
        }
    }

    /// The state of a volume at a moment, as another volume.
    private func copy(_ volume: MemoryVolume) throws -> MemoryVolume {
        let copy = MemoryVolume()
        for folder in ["", "log", "roots", "tree", "tree/0", "tree/1"] {
            for name in try volume.list(folder) where try volume.kind(of: folder.isEmpty ? name : "\(folder)/\(name)") == .regularFile {
                let path = folder.isEmpty ? name : "\(folder)/\(name)"
                try copy.create(path, volume.bytes(of: path))
            }
        }
        return copy
    }

    @Test func `each transaction is proved with its author, with the log open, sealed and reopened`() throws {
        let volume = MemoryVolume()
        var store = try made(volume, count: 300)
        for round in 0..<2 {
            let note = try Store.sign(volume, with: [key])
            for number in [1, 2, 255, 256, 257, 299, 300] as [UInt64] {
                let proof = try Store.prove(TransactionNumber(rawValue: number), volume, in: note)
                let proved = try ProvedTransaction(ProofFile(parsing: Array(proof.description.utf8)), trusting: trust)
                #expect(proved.number.rawValue == number && proved.head.size == UInt64(300 + round * 260))
                #expect(number == 1 || proved.author.message == "m\(number - 1)")
            }
            try store.close()
            store = try Store.open(volume, durability: nil)
            try store.checkpoint()
            if round == 0 { try add(store, 300..<560) }
        }
        #expect(try Store.sign(volume, with: [key]).description.contains("\n560\n"))
        let unsigned = try Store.prove(TransactionNumber(rawValue: 7), volume)
        #expect(try ProvedTransaction(unsigned, trusting: .root(TreeHead(parsing: unsigned.checkpoint).root)).number.rawValue == 7)
        #expect(throws: CambiumError.self) { try ProvedTransaction(unsigned, trusting: trust) }
        #expect(throws: CambiumError.self) { try Store.prove(TransactionNumber(rawValue: 561), volume) }
        #expect(throws: CambiumError.self) { try Store.prove(TransactionNumber(rawValue: 0), volume) }
    }

    @Test func `a store with a retired log proves the same`() throws {
        let volume = MemoryVolume()
        let store = try made(volume, count: 100)
        let note = try Store.sign(volume, with: [key])
        let before = try Store.prove(TransactionNumber(rawValue: 20), volume, in: note).description
        try store.checkpoint()
        try store.compact(.since(.latest))
        for name in try volume.list("tree/0") { try volume.remove("tree/0/\(name)") }
        #expect(try Store.prove(TransactionNumber(rawValue: 20), volume, in: note).description == before)
        try store.close()
    }

    @Test func `two inconsistent notes are never signed`() throws {
        let volume = MemoryVolume()
        let store = try made(volume, count: 20)
        _ = try Store.sign(volume, with: [key])
        let older = try copy(volume)
        try add(store, 20..<40)
        let note = try Store.sign(volume, with: [key])
        #expect(try volume.bytes(of: "signed") == Array(note.description.utf8))
        // The log of the older copy, with other transactions or without any, beside the newer signed note.
        for count in [0, 30] {
            let forged = try copy(older)
            try forged.remove("signed")
            try forged.create("signed", Array(note.description.utf8))
            let other = try Store.open(forged, durability: nil)
            try add(other, 100..<100 + count)
            let error = #expect(throws: CambiumError.self) { try Store.sign(forged, with: [key]) }
            #expect(error?.code == .conflict)
            #expect(try forged.bytes(of: "signed") == Array(note.description.utf8))
            let found = try Verification(forged, against: TreeHead(note))
            #expect(!found.isSound && found.findings.count == 1, "\(found.findings)")
            try other.close()
        }
        #expect(try Verification(volume, against: TreeHead(note)).isSound)
        try volume.remove("signed")
        try volume.create("signed", Array(note.description.utf8.dropLast(9)))
        #expect(throws: CambiumError.self) { try Store.sign(volume, with: [key]) }
        #expect(throws: CambiumError.self) { try Store.sign(older, with: [witnessKey]) }
        #expect(throws: CambiumError.self) { try Store.sign(older, with: []) }
        try store.close()
    }

    @Test func `a restored backup with another history is not signed with the keys that remember the first one`() throws {
        let (volume, folder) = (MemoryVolume(), MemoryVolume())
        let store = try made(volume, count: 20)
        let (backup, memory) = (MemoryVolume(), (folder: folder as any Volume, name: "key.signed"))
        _ = try Store.sign(volume, with: [key], memory: memory)
        _ = try Backup(volume, to: backup)
        try add(store, 20..<40)
        let note = try Store.sign(volume, with: [key], memory: memory)
        let remembered = try folder.bytes(of: "key.signed")
        for count in [0, 20, 30] {
            let copy = MemoryVolume()
            _ = try Backup(backup, to: copy)
            let other = try Store.open(copy, durability: nil)
            try add(other, 100..<100 + count)
            let error = #expect(throws: CambiumError.self) { try Store.sign(copy, with: [key], memory: memory) }
            #expect(error?.code == .conflict && error?.message.contains("of 40 transactions of this store") == true)
            let isSigned = try copy.exists("signed")
            #expect(try folder.bytes(of: "key.signed") == remembered && !isSigned)
            try other.close()
        }
        // The same history, and another store.
        let whole = MemoryVolume()
        _ = try Backup(volume, to: whole)
        #expect(try Store.sign(whole, with: [key], memory: memory).text == note.text)
        let another = MemoryVolume()
        try made(another, count: 3, seed: 8).close()
        _ = try Store.sign(another, with: [key], memory: memory)
        #expect(try folder.bytes(of: "key.signed").count(where: { $0 == 10 }) == 2)
        try folder.remove("key.signed")
        try folder.create("key.signed", remembered.dropLast(3))
        #expect(throws: CambiumError.self) { try Store.sign(volume, with: [key], memory: memory) }
        try store.close()
    }

    @Test func `a note has the signatures of all keys while a key is replaced`() throws {
        let volume = MemoryVolume()
        try made(volume, count: 5).close()
        let next = try SigningKey(name: "example.com/notes", kind: .log, secret: Array(repeating: 9, count: 32))
        let note = try Store.sign(volume, with: [next, key])
        for known in [key, next] { #expect(try note.verify(with: [known.verifier]).count == 1) }
    }

    @Test func `a corrupt cached tile, and the tiles of another log, are written again`() throws {
        let volume = MemoryVolume()
        let store = try made(volume, count: 600)
        try store.checkpoint()
        let root = try TreeHead(Store.sign(volume, with: [key])).root
        var bytes = try volume.bytes(of: "tree/0/000")
        bytes[5] ^= 1
        try volume.remove("tree/0/000")
        try volume.create("tree/0/000", bytes)
        for proof in try [3, 590].map({ try Store.prove(TransactionNumber(rawValue: $0), volume) }) {
            #expect(try ProvedTransaction(proof, trusting: .root(root)).head.size == 600)
        }
        let other = MemoryVolume()
        let otherStore = try made(other, count: 600, seed: 3)
        try otherStore.checkpoint()
        let otherRoot = try TreeHead(Store.sign(other, with: [key])).root
        for name in ["tree/0/000", "tree/0/001"] {
            try other.remove(name)
            try other.create(name, volume.bytes(of: name))
        }
        let proof = try Store.prove(TransactionNumber(rawValue: 3), other)
        #expect(root != otherRoot)
        #expect(try ProvedTransaction(proof, trusting: .root(otherRoot)).number.rawValue == 3)
        try store.close()
        try otherStore.close()
    }

    @Test func `each tile of the cache that is missing or empty is made again`() throws {
        let volume = MemoryVolume()
        let store = try made(volume, count: 1_100)
        let root = try TreeHead(Store.sign(volume, with: [key])).root
        try store.checkpoint()
        try store.compact(.since(.latest))
        for name in ["tree/0/000", "tree/0/001", "tree/0/003"] {
            for isEmpty in [false, true] {
                try volume.remove(name)
                if isEmpty { try volume.create(name, []) }
                for number in [1, 300, 800, 1_099] as [UInt64] {
                    let proof = try Store.prove(TransactionNumber(rawValue: number), volume)
                    #expect(try ProvedTransaction(proof, trusting: .root(root)).number.rawValue == number)
                }
                #expect(try Store.proveConsistency(since: 400, volume).oldSize == 400)
                #expect(try volume.bytes(of: name).count == 256 * 32 + 4, "\(name)")
            }
        }
        try store.close()
    }

    @Test func `tiles of a fork replace nothing, however small the log is`() throws {
        let (volume, target) = (MemoryVolume(), MemoryVolume())
        let store = try made(volume, count: 10)
        let fork = try copy(volume)
        let other = try Store.open(fork, durability: nil)
        try add(store, 10..<12)
        try add(other, 50..<55)
        _ = try Store.writeTiles(of: volume, to: target, in: Store.sign(volume, with: [key]))
        let published = target.contents
        for note in [nil, try Store.sign(fork, with: [key])] {
            let error = #expect(throws: CambiumError.self) { try Store.writeTiles(of: fork, to: target, in: note) }
            #expect(error?.code == .conflict && target.contents == published)
        }
        try store.close()
        try other.close()
    }

    @Test func `tiles are written once, lead to the root, and are refused in the folder of another log`() throws {
        let (volume, target) = (MemoryVolume(), MemoryVolume())
        let store = try made(volume, count: 520)
        let note = try Store.sign(volume, with: [key])
        let first = try Store.writeTiles(of: volume, to: target, in: note)
        // Three bundles of entries, three tiles of leaves, one of level 1.
        #expect(first.fileCount == 7 && first.size == 520 && first.isSigned)
        #expect(try target.bytes(of: "checkpoint") == Array(note.description.utf8))
        try add(store, 520..<521)
        let second = try Store.writeTiles(of: volume, to: target)
        #expect(second.fileCount == 2 && second.size == 521 && !second.isSigned)
        var tree = TileTree(size: 521) { tile throws(CambiumError) in try target.bytes(of: tile.path) }
        #expect(try tree.root() == second.root)
        try expectEntries(target, tree: &tree)
        let other = MemoryVolume()
        try made(other, count: 520, seed: 5).close()
        let error = #expect(throws: CambiumError.self) { try Store.writeTiles(of: other, to: target) }
        #expect(error?.code == .conflict)
        try store.close()
    }

    /// Expects that each entry is the content of its leaf.
    private func expectEntries(_ target: MemoryVolume, tree: inout TileTree<CambiumError>) throws {
        for index in UInt64(0)..<3 {
            var bytes = try target.bytes(of: Tile(.entries, index: index, width: index < 2 ? 256 : 9).path)[...]
            for leaf in index * 256..<min(521, index * 256 + 256) {
                let count = Int(bytes.removeFirst()) << 8 | Int(bytes.removeFirst())
                #expect(try TreeHash.leaf(Array(bytes.prefix(count))) == tree.hash(Subtree(level: 0, index: leaf)))
                bytes = bytes.dropFirst(count)
            }
            #expect(bytes.isEmpty)
        }
    }

    @Test func `a witness cosigns growth, and nothing else`() throws {
        let volume = MemoryVolume()
        let store = try made(volume, count: 10)
        let memory = try Store.inMemory(schema: Witness.schema)
        let witness = Witness(memory)
        let note = try Store.sign(volume, with: [key])
        let request = try Store.proveConsistency(since: 0, volume, in: note)
        #expect(throws: CambiumError.self) { try witness.cosign(request, with: [witnessKey]) }
        try witness.add(key.verifier)
        let cosigned = try witness.cosign(request, with: [witnessKey])
        let policy = try TrustPolicy(
            parsing: Array("log \(key.verifier)\nwitness w \(witnessKey.verifier)\nquorum w\n".utf8))
        try policy.check(SignedNote(parsing: Array((note.description + cosigned.signatureText).utf8)))
        #expect(throws: CambiumError.self) { try policy.check(note) }
        let fork = try copy(volume)
        try add(store, 10..<20)
        let newer = try Store.sign(volume, with: [key])
        let stale = #expect(throws: CambiumError.self) { try witness.cosign(request, with: [witnessKey]) }
        #expect(stale?.code == .conflict)
        let forkStore = try Store.open(fork, durability: nil)
        try add(forkStore, 50..<60)
        let forked = try Store.proveConsistency(since: 10, fork, in: Store.sign(fork, with: [key]))
        _ = try witness.cosign(Store.proveConsistency(since: 10, volume, in: newer), with: [witnessKey])
        let refused = #expect(throws: CambiumError.self) {
            try witness.cosign(ConsistencyFile(oldSize: 20, path: forked.path, checkpoint: forked.checkpoint), with: [witnessKey])
        }
        #expect(refused?.code == .notProved)
        #expect(throws: CambiumError.self) { try witness.cosign(Store.proveConsistency(since: 20, volume, in: newer), with: [key]) }
        _ = try witness.cosign(Store.proveConsistency(since: 20, volume, in: newer), with: [witnessKey])
        try store.close()
        try forkStore.close()
    }

    @Test func `a message of the largest size fits into an entry`() throws {
        let (volume, target) = (MemoryVolume(), MemoryVolume())
        let store = try made(volume, count: 2)
        func text(_ count: Int) -> String { String(repeating: "x", count: count) }
        let author = Author(actor: text(1024), message: text(64_000), requestID: text(256), requestParts: ["a"])
        try store.write(author) { try $0.insert("Note", ["id": 77]) }
        #expect(throws: CambiumError.self) { try store.write(Author(message: text(64_001))) { try $0.insert("Note", ["id": 78]) } }
        #expect(try Store.writeTiles(of: volume, to: target).size == 3)
        #expect(
            try ProvedTransaction(
                Store.prove(TransactionNumber(rawValue: 3), volume),
                trusting: .root(
                    Store.writeTiles(of: volume, to: target).root)
            ).author.message?.count == 64_000)
        try store.close()
    }
}

import Cambium
import CambiumBytes
import CambiumModel
import TestFixtures
import Testing

@testable import CambiumLog

/// Forgeries by an attacker with access to all files and knowledge of the formats. Every checksum fits, but the Merkle root does not.
@Suite struct ProofTests {
    private struct Entry {
        var metadata: TransactionMetadata
        var payload: [UInt8]
        var salt: [UInt8]
    }

    private func entries() throws -> (entries: [Entry], root: String) {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        for number in 0..<10 {
            let author = Author(actor: "actor \(number % 2)", message: "change \(number)", requestID: "request \(number)")
            try store.write(author) { try $0.insert("Tag", ["name": .string("tag \(number)")]) }
        }
        try store.close()
        var entries: [Entry] = []
        _ = try LogReader(volume).scan { record in
            entries.append(
                Entry(metadata: record.metadata, payload: try record.payload.bytes(), salt: record.salt.bytes(record.number)))
        }
        return (entries, try Verification(volume).root)
    }

    /// Returns the Merkle root of a log with these transactions, which verifies from end to end.
    private func forged(_ entries: [Entry], frameCount: Int = .max, tuning: LogTuning = .standard) throws -> String {
        let volume = MemoryVolume()
        let settings = StoreSettings(store: [UInt8](repeating: 5, count: 16), creationTime: 0, durability: .synced)
        try LogWriter.create(volume, settings, saltSeed: [UInt8](repeating: 6, count: 16))
        let reader = try LogReader(volume)
        let writer = try LogWriter(reader, try reader.scan { _ in }, preallocates: false, tuning: tuning) {
            [UInt8](repeating: 7, count: 16)
        }
        for (number, entry) in entries.enumerated() {
            try writer.stage(entry.metadata, EncodedOps(entry.payload), salt: entry.salt)
            if number % frameCount == 0 { try writer.write() }
        }
        try writer.close()
        var tree = LogTree()
        var count = 0
        let end = try LogReader(volume).scan { record in
            try tree.append(record)
            count += 1
        }
        #expect(end.verdict == .clean && count == entries.count)
        return HexText.encode(tree.root)
    }

    @Test func `the Merkle root depends only on the transactions, not on frames, segments or stores`() throws {
        let (entries, root) = try entries()
        #expect(entries.count == 11)
        for count in [1, 2, 3, .max] { #expect(try forged(entries, frameCount: count) == root) }
        #expect(try forged(entries, frameCount: 1, tuning: .tiny) == root)
    }

    @Test func `rewriting, dropping, adding or moving a transaction changes the Merkle root`() throws {
        let (entries, root) = try entries()
        var roots: Set<String> = [root]
        var count = 1
        func expectAnother(_ what: String, _ forgedEntries: [Entry]) throws {
            let other = try forged(forgedEntries)
            count += 1
            #expect(roots.insert(other).inserted, "\(what) has the root of another log")
        }
        for place in entries.indices {
            let changes: [(String, (inout Entry) -> Void)] = [
                ("payload", { $0.payload[$0.payload.count / 2] ^= 1 }), ("longer payload", { $0.payload.append(0) }),
                ("salt", { $0.salt[3] ^= 1 }), ("actor", { $0.metadata.actor = "another" }), ("no actor", { $0.metadata.actor = nil }),
                ("message", { $0.metadata.message = "another" }), ("request", { $0.metadata.requestID = "another" }),
            ]
            for (what, change) in changes {
                var forged = entries
                change(&forged[place])
                if what == "no actor", entries[place].metadata.actor == nil { continue }
                try expectAnother("\(what) of \(place + 1)", forged)
            }
            var (dropped, repeated, moved, later) = (entries, entries, entries, entries)
            dropped.remove(at: place)
            try expectAnother("\(place + 1) dropped", dropped)
            if place < entries.count - 1 {
                repeated.insert(entries[place], at: place)
                try expectAnother("\(place + 1) repeated", repeated)
                // The times stay in order, as a log requires.
                (moved[place].payload, moved[place + 1].payload) = (entries[place + 1].payload, entries[place].payload)
                try expectAnother("the ops of \(place + 1) and the next swapped", moved)
                later[place].metadata.time = entries[place + 1].metadata.time
                try expectAnother("\(place + 1) at another time", later)
            }
            if (1..<entries.count - 1).contains(place) { try expectAnother("cut before \(place + 1)", Array(entries[..<place])) }
        }
        #expect(count > 100 && roots.count == count)
    }
}

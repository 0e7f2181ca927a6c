import Cambium
import Foundation
import TestFixtures
import Testing

@testable import CambiumGraph
@testable import CambiumLog

extension CheckpointTests {
    // MARK: Readers, writers and followers

    @Test func `a checkpoint that a reader uses is not dropped, and the reader's graph stays`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try store.setCheckpointPolicy(CheckpointPolicy(countMax: 2))
        try add(store, 0..<50)
        try store.checkpoint()
        let digest = store.graph.digest()
        do {
            let reader = try ReadOnlyStore(volume)
            for round in 1..<30 {
                try store.write {
                    try $0.set(ObjectID(root: Notes.schema.required("Note").number, serial: 7), "rating", to: .double(Double(round)))
                }
                try store.checkpoint()
            }
            #expect(try roots(volume).contains(2) && roots(volume).count == 3)
            #expect(reader.graph.digest() == digest)
        }
        try add(store, 50..<60)
        try store.checkpoint()
        #expect(try roots(volume).count == 2 && !roots(volume).contains(2))
    }

    @Test func `writers continue during a checkpoint`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 0..<100)
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for round in 0..<25 {
                do {
                    if thread == 0 {
                        try store.checkpoint()
                    } else {
                        try add(store, (thread * 1000 + round * 10)..<(thread * 1000 + round * 10 + 7))
                    }
                } catch { Issue.record("\(error)") }
            }
        }
        try store.checkpoint()
        try store.close()
        let again = try reopen(volume)
        #expect(again.recovery.transactionCount == 0 && again.graph.digest() == store.graph.digest())
        #expect(try Verification(volume).digest == store.graph.digest())
    }

    @Test func `an earlier moment is shown from the checkpoint before it`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        var digests = [store.graph.digest()]
        for round in 0..<6 {
            try add(store, round * 5..<round * 5 + 5)
            digests.append(store.graph.digest())
            if round == 1 || round == 3 { try store.checkpoint() }
        }
        for number in 1...7 {
            let past = try ReadOnlyStore(volume, point: .transaction(TransactionNumber(rawValue: UInt64(number))))
            #expect(past.graph.digest() == digests[number - 1])
            #expect(past.recovery.checkpoint.rawValue == (number >= 5 ? 5 : number >= 3 ? 3 : 0))
        }
    }

    @Test func `a follower begins with a checkpoint`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 0..<20)
        try store.checkpoint()
        try add(store, 20..<25)
        let follower = try StoreFollower(volume)
        #expect(follower.graph.digest() == store.graph.digest())
        try add(store, 25..<30)
        try store.checkpoint()
        try add(store, 30..<35)
        #expect(try follower.advance() == 2 && follower.graph.digest() == store.graph.digest())
    }

    @Test func `a store on disk maps its pages`() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "cambium-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }  // The operating system removes leftovers.
        let store = try Store.create(at: path, schema: Notes.schema)
        try add(store, 0..<1500)
        try store.checkpoint()
        try add(store, 3000..<3010)
        try store.close()
        let again = try Store.open(at: path)
        #expect(again.recovery.checkpoint.rawValue == 2 && again.graph.export == store.graph.export)
        let reader = try ReadOnlyStore(at: path)
        for round in 0..<5 {
            try add(again, 4000 + round * 10..<4010 + round * 10)
            try again.checkpoint()
        }
        #expect(reader.graph.export == store.graph.export)
        try again.close()
        #expect(try Store.verify(at: path).digest == ReadOnlyStore(at: path).graph.digest())
    }
}

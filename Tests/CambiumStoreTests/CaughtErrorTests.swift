import Cambium
import CambiumLog
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumGraph

/// A closure that catches the error of a call continues with a transaction of the calls that did not throw.
@Suite struct CaughtErrorTests {
    /// Makes a note with a memo, an item and a tag, each in the first row of its table.
    private func filled(_ volume: MemoryVolume = MemoryVolume()) throws -> Store {
        let store = try Store.notes(volume)
        try store.write { transaction in
            let note = try transaction.insert("Note", ["id": .int(1), "title": .string("Paris")])
            try transaction.link(note, "memos", transaction.insert("Memo"))
            try transaction.link(note, "items", transaction.insert("Item", ["key": .string("a")]))
            try transaction.insert("Tag", ["name": .string("red")])
        }
        return store
    }

    private func id(_ entity: String, _ serial: UInt64) throws -> ObjectID {
        ObjectID(root: try Notes.schema.required(entity).root, serial: serial)
    }

    /// Returns the code of the error that a call throws.
    private func code(_ body: () throws -> Void) -> CambiumError.Code? {
        do {
            try body()
            return nil
        } catch { return (error as? CambiumError)?.code }
    }

    /// Returns calls that must throw, each with the code of its error.
    private func wrongCalls() throws -> [(code: CambiumError.Code, call: (inout WriteTransaction) throws -> Void)] {
        let note = try Notes.schema.required("Note")
        let (title, rating) = (try note.requiredAttribute("title"), try note.requiredAttribute("rating"))
        let (first, memo, tag) = (try id("Note", 1), try id("Memo", 1), try id("Tag", 1))
        return [
            (.invalidInput, { _ = try $0.insert(note, [(title, .string("t")), (rating, .string("high"))]) }),
            (.invalidInput, { try $0.set(first, [(title, .string("t")), (rating, .string("high"))]) }),
            (.invalidInput, { try $0.link(first, "memos", tag) }), (.invalidInput, { try $0.link(first, "memos", memo, at: 9) }),
            (.invalidInput, { try $0.unlink(first, "memos", tag) }), (.invalidInput, { try $0.move(first, "memos", memo, to: 9) }),
            (.notFound, { try $0.delete([first, ObjectID(root: note.root, serial: 9)]) }),
            (.notFound, { _ = try $0.clone([first, ObjectID(root: note.root, serial: 9)]) }),
            (.ruleViolated, { _ = try $0.clone(first) }),
        ]
    }

    @Test func `an insert that a full graph ends before its links leaves no object without links`() throws {
        var tuning = LogTuning()
        (tuning.chunkCountMax, tuning.checkpointsInBackground) = (256, false)
        let store = try Store.create(
            MemoryVolume(), schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning)
        let first = try store.write { try $0.insert("Note", ["id": 0]) }.result
        // The long text takes the last free pages, so the link after it is refused.
        let text = String(repeating: "long ", count: 4000)
        var isInserted = false
        let error = code {
            try store.write { transaction in
                var number: Int64 = 1
                while (try? transaction.insert("Note", ["id": .int(number), "title": .string(text)], links: ["related": [first]])) != nil {
                    number += 1
                }
                isInserted = try transaction.find("Note", identity: [.int(number)]) != nil
            }
        }
        #expect(isInserted, "the graph refused an insert, and not the link after it")
        #expect(error == .limitExceeded)
        #expect(try Array(store.graph.objects(of: "Note")) == [first])
    }

    @Test func `a call whose error is caught leaves nothing, and the rest is committed and replayed`() throws {
        let (volume, plain) = (MemoryVolume(), try filled())
        let store = try filled(volume)
        func change(_ transaction: inout WriteTransaction, _ number: Int64) throws {
            let note = try transaction.insert("Note", ["id": .int(number), "title": .string("note \(number)")])
            try transaction.link(note, "related", try id("Note", 1))
        }
        let receipt = try store.write { transaction in
            for (number, wrong) in try wrongCalls().enumerated() {
                #expect(code { try wrong.call(&transaction) } == wrong.code, "call \(number)")
                try change(&transaction, Int64(number + 2))
            }
        }.receipt
        let expected = try plain.write { transaction in
            for number in try wrongCalls().indices { try change(&transaction, Int64(number + 2)) }
        }.receipt
        #expect(receipt.graph.digest() == expected.graph.digest() && receipt.logByteCount == expected.logByteCount)
        try store.write { try $0.delete(id("Note", 2)) }
        #expect(try Store.reopened(volume).graph.digest() == store.graph.digest())
        #expect(try Verification(volume).isSound)
    }

    @Test func `an insert that throws makes no object and uses no serial`() throws {
        let volume = MemoryVolume()
        let store = try filled(volume)
        let (made, _) = try store.write { transaction in
            #expect(code { try transaction.insert("Note", ["id": .string("two")]) } == .invalidInput)
            return try transaction.insert("Note", ["id": .int(2)])
        }
        #expect(made.serial == 2 && store.graph.objectCount == 5)
        try store.write { try $0.delete(made) }
        #expect(try Store.reopened(volume).graph.export == store.graph.export)
    }

    @Test func `a transaction in which every call threw writes nothing`() throws {
        let volume = MemoryVolume()
        let store = try filled(volume)
        let before = (store.graph.digest(), volume.contents)
        let receipt = try store.write { transaction in
            for wrong in try wrongCalls() { #expect(code { try wrong.call(&transaction) } == wrong.code) }
        }.receipt
        #expect(receipt.transaction == nil && store.graph.digest() == before.0 && volume.contents == before.1)
    }

    @Test func `the last of several values for one attribute counts, even if it is the present value`() throws {
        let store = try filled()
        let title = try Notes.schema.required("Note").requiredAttribute("title")
        try store.write { try $0.set(id("Note", 1), [(title, .string("Rome")), (title, .string("Paris"))]) }
        #expect(store.graph.value(of: title, of: try id("Note", 1)) == .string("Paris"))
    }

    @Test func `a hook that catches the error of a call leaves nothing of the call`() throws {
        let volume = MemoryVolume()
        let store = try filled(volume)
        let hooks = ImportHooks(finish: { transaction, id, _ in
            let values: KeyValuePairs<String, Value> = ["key": .string("b"), "count": .string("many")]
            #expect(code { try transaction.insert("Item", values) } == .invalidInput)
            #expect(code { try transaction.link(id, "memos", id) } == .invalidInput)
            try transaction.set(id, "title", to: .string("seen"))
        })
        let rows = [ImportSource.bytes(Array(#"[{"id":2},{"id":1}]"#.utf8))]
        _ = try store.importRows(try store.schema.required("Note"), from: rows, hooks: hooks)
        #expect(store.graph.objectCount == 5 && store.graph.labels.isEmpty)
        #expect(try Store.reopened(volume).graph.digest() == store.graph.digest())
    }

    @Test func `a large transaction fails if the disk refuses its ops, whatever errors the closure catches`() throws {
        let volume = FaultyVolume()
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: .tiny)
        let digest = store.graph.digest()
        var codes: [CambiumError.Code?] = []
        let thrown = code {
            try store.write { transaction in
                for number in 0..<20 {
                    if number == 5 { volume.fail(at: volume.operationCount, with: 28) }
                    codes.append(code { try transaction.insert("Note", ["id": .int(Int64(number))]) })
                }
            }
        }
        #expect(thrown == .ioFailure && codes.first == .some(nil) && codes.last == .ioFailure)
        #expect(store.graph.digest() == digest)
        try store.write { _ = try $0.insert("Note", ["id": .int(1)]) }
        #expect(store.graph.objectCount == 1)
    }

    private static func failHalfway(_ draft: inout Draft) throws(CambiumError) {
        try draft.atomically { draft throws(CambiumError) in
            draft.tableWriter.setLink(0, 1, TableLayout.changedSlot, 7)
            throw CambiumError(.corrupted, "A fault.")
        }
    }

    @Test func `a transaction that failed midway refuses every call and its commit`() throws {
        let volume = MemoryVolume()
        let store = try filled(volume)
        let before = (store.graph.digest(), volume.contents)
        var codes: [CambiumError.Code?] = []
        let thrown = code {
            try store.write { transaction in
                codes.append(code { try Self.failHalfway(&transaction.draft) })
                codes.append(code { try transaction.insert("Note", ["id": .int(2)]) })
                codes.append(code { _ = try transaction.clone(try id("Memo", 1)) })
            }
        }
        #expect(codes == [.corrupted, .notWritable, .notWritable] && thrown == .notWritable)
        #expect(store.graph.digest() == before.0 && volume.contents == before.1)
    }
}

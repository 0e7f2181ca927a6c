import Cambium
import CambiumLog
import CambiumModel
import TestFixtures
import Testing

/// A clone is one op of a transaction. Other ops may precede and follow it, and it is applied whole or not at all.
@Suite struct `Clones in transactions` {
    private struct Withdrawn: Error {}

    private func note() throws -> CloneFixture { try CloneFixture(CloneModels.notes, CloneModels.wholeNote) }

    @Test func `a transaction that fails after a clone leaves nothing of the clone`() throws {
        let fixture = try note()
        let (files, digest) = (fixture.volume.contents, fixture.store.graph.digest())
        let note = try fixture.id("Note/1")
        #expect(throws: Withdrawn.self) {
            try fixture.store.write { transaction in
                let clone = try transaction.clone(note)
                let isThere = transaction.contains(clone.root)
                #expect(isThere)
                throw Withdrawn()
            }
        }
        #expect(fixture.volume.contents == files && fixture.store.graph.digest() == digest)
        try fixture.expect("")
    }

    @Test func `a clone that throws leaves its transaction unchanged, and the transaction may continue`() throws {
        let fixture = try note()
        let (note, memo) = (try fixture.id("Note/1"), try fixture.id("Memo/1"))
        try fixture.store.write { transaction in
            try transaction.set(memo, "text", to: .string("before"))
            let refused: [(CloneRequest, CambiumError.Code)] = [
                (CloneRequest(excluding: ["nope"]), .unknownName), (CloneRequest(objectCountMax: 1), .limitExceeded),
                (CloneRequest(rootValues: ["name": .int(1)]), .invalidInput),
            ]
            for (request, code) in refused {
                do {
                    _ = try transaction.clone(note, request)
                    Issue.record("\(request) was not refused")
                } catch {
                    #expect((error as? CambiumError)?.code == code)
                }
            }
            try transaction.insert("Memo", ["text": .string("behind")])
        }
        try fixture.expect(#"{"_id":"Memo/1","text":"before","note":"Note/1"}"# + "\n" + #"{"_id":"Memo/4","text":"behind"}"#)
        try fixture.clone("Memo/4", gives: #"{"_id":"Memo/5","text":"behind"}"#)
    }

    @Test func `a clone sees the earlier ops of its transaction, and later ops see the clone`() throws {
        let fixture = try CloneFixture(CloneModels.nodes, #"{"_id":"Node/1","name":"a"}"#)
        try fixture.store.write { transaction in
            let child = try transaction.insert("Node", ["name": .string("b")])
            try transaction.link(fixture.id("Node/1"), "children", child)
            let first = try transaction.clone(fixture.id("Node/1"))
            try transaction.set(first.root, "name", to: .string("c"))
            try transaction.delete(child)
            let second = try transaction.clone(first.root)
            try transaction.link(second.root, "left", first.root)
        }
        try fixture.expect(
            #"""
            {"_id":"Node/3","name":"c","children":["Node/4"]}
            {"_id":"Node/4","name":"b","parent":"Node/3"}
            {"_id":"Node/5","name":"c","children":["Node/6"],"left":"Node/3"}
            {"_id":"Node/6","name":"b","parent":"Node/5"}
            """#)
    }

    @Test func `a value that breaks a rule in a clone may be corrected later in the transaction`() throws {
        let fixture = try CloneFixture(
            CloneModels.schema(node: "", attributes: #""size": {"type": "int32"}"#), #"{"_id":"Node/1","size":1}"#)
        try fixture.store.write { transaction in
            let clone = try transaction.clone(fixture.id("Node/1"), CloneRequest(rootValues: ["size": .null]))
            try transaction.set(clone.root, "size", to: .int(2))
        }
        try fixture.expect(#"{"_id":"Node/2","size":2}"#)
        // If an object of the same transaction lacks a required value, its copies lack the value too.
        #expect(
            code {
                try fixture.store.write { transaction in
                    let object = try transaction.insert("Node")
                    _ = try transaction.clone(object)
                    try transaction.set(object, "size", to: .int(3))
                }
            } == .ruleViolated)
        try fixture.expect("")
    }

    @Test func `two clones in one transaction have different times`() throws {
        let volume = MemoryVolume()
        let schema = try Schema(SchemaDefinition(json: Array(CloneModels.notes.utf8)))
        let store = try Store.create(volume, schema: schema, durability: .synced, environment: fixedEnvironment())
        let dates = try store.schema.required("Note").requiredAttribute("createDate")
        let copies = try store.write { transaction in
            let note = try transaction.insert("Note")
            return [try transaction.clone(note).root, try transaction.clone(note).root]
        }.result
        let times = copies.compactMap { id in store.graph.place(of: id).map { store.graph.value(of: store.graph.field(dates), at: $0) } }
        #expect(times.count == 2 && Set(times).count == 2)
        #expect(try Store.reopened(volume).graph.export == store.graph.export)
    }

    @Test func `a clone is one op with its time and its seed, and a replay finds the same graph`() throws {
        let fixture = try note()
        let note = try fixture.id("Note/1")
        let receipt = try fixture.store.write(Author(actor: "jane")) { try $0.clone(note) }.receipt
        try fixture.store.close()
        var last: TransactionLog.Entry?
        try TransactionLog(fixture.volume).forEach { last = $0 }
        let ops = try #require(try last?.ops())
        guard ops.count == 1, case .clone(let op) = ops[0] else { return #expect(Bool(false), "\(ops)") }
        #expect(op.roots == [note] && op.time == CloneLine.now && op.seed != nil && op.objectCount == 6)
        #expect(last?.byteCount == receipt.logByteCount && receipt.logByteCount <= 256)
        let verification = try Verification(fixture.volume)
        #expect(verification.isSound && verification.digest == fixture.store.graph.digest())
        let past = try ReadOnlyStore(fixture.volume, point: .transaction(TransactionNumber(rawValue: 2))).graph
        #expect(past.objectCount == 11 && fixture.store.graph.objectCount == 17)
    }

    @Test func `a follower and a repaired store have the same copies`() throws {
        let fixture = try note()
        let follower = try StoreFollower(fixture.volume)
        let note = try fixture.id("Note/1")
        for _ in 0..<3 { try fixture.store.write { _ = try $0.clone(note) } }
        #expect(try follower.advance() == 3)
        #expect(follower.graph.digest() == fixture.store.graph.digest())
        try fixture.store.close()
        let target = MemoryVolume()
        let repair = try Repair(fixture.volume, to: target, environment: fixedEnvironment())
        #expect(try repair.findings.isEmpty && Store.reopened(target).graph.digest() == fixture.store.graph.digest())
    }

    @Test func `a store in memory clones like a store on a disk`() throws {
        let schema = try Schema(SchemaDefinition(json: Array(CloneModels.notes.utf8)))
        let store = try Store.inMemory(schema: schema)
        let note = try store.write { try $0.insert("Note", ["name": .string("n")]) }.result
        let (clone, receipt) = try store.write { try $0.clone(note) }
        #expect(receipt.logByteCount == 0 && store.graph.source(of: clone.root) == note && store.graph.objectCount == 2)
    }

    @Test func `a repeated request is not applied again`() throws {
        let fixture = try note()
        let note = try fixture.id("Note/1")
        try fixture.store.write(Author(requestID: "r")) { _ = try $0.clone(note) }
        let count = fixture.store.graph.objectCount
        #expect(code { try fixture.store.write(Author(requestID: "r")) { _ = try $0.clone(note) } } == .repeated)
        #expect(fixture.store.graph.objectCount == count)
    }
}

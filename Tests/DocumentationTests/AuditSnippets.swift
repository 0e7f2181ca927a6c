// swift-format-ignore-file: ReplaceForEachWithForLoop

// The log and the map of a clone are not sequences, so a loop cannot replace `forEach`.
import Cambium
import Foundation
import Testing

/// The code of Docs/Guides/Audit.md, word for word.
@Suite struct AuditSnippets {
    private func record(_ store: Store, _ customer: ObjectID) throws -> Receipt {
        let clerk = Author(actor: "jane", message: "the customer moved", requestID: "ticket-118")
        let receipt = try store.write(clerk) { try $0.set(customer, "city", to: "Rome") }.receipt
        return receipt
    }

    private func recordWithParts(_ store: Store, _ customer: ObjectID) throws {
        let request = Author(actor: "jane", requestID: "ticket-119", requestParts: ["move", "Customer/1", "Milan"])
        try store.write(request) { try $0.set(customer, "city", to: "Milan") }
    }

    private func label(_ store: Store) throws {
        try store.label("end of March", author: Author(actor: "jane", message: "closing of the month"))
    }

    private func compare(_ store: Store, _ customer: ObjectID) throws -> Changes {
        let closing = try store.graph(at: .label("end of March"))
        let second = try store.graph(at: .transaction(TransactionNumber(rawValue: 2)))
        let now = try store.graph(at: .time(Timestamp(Date.now)))
        print(try closing[customer, "city"].text, try second[customer, "city"].text, try now[customer, "city"].text)
        for object in store.graph.changes(since: closing) {
            print(object.kind, object.entity.name, object.id)
            for change in object.attributes { print("  \(change.attribute.name): \(change.before.text) -> \(change.after.text)") }
            for change in object.relationships { print("  \(change.relationship.name): -\(change.removed) +\(change.added)") }
        }
        return store.graph.changes(since: second)
    }

    private func trace(_ store: Store, _ customer: ObjectID) throws -> AuditTrail {
        let trail = try store.audit()
        for entry in try trail.history(of: customer) {
            let actor = entry.author.actor ?? "-"
            switch entry.change {
            case .attribute(let value): print(entry.time, actor, value.name, value.before.text, "->", value.after.text)
            case .relationship(let members): print(entry.time, actor, members.name, members.removed, "->", members.added)
            case .cloned(let source, _): print(entry.time, actor, "cloned from", source)
            case .inserted, .deleted, .stub, .renamed, .schema, .label, .retired: print(entry.time, actor, entry.change)
            }
        }
        var selection = HistorySelection(entity: "Customer", actor: "jane")
        selection.condition = "city == 'Milan'"
        try trail.history(selection) { entry in
            print(entry.transaction, entry.object?.name ?? "-", entry.change)
            return true  // The call returns when the closure returns false.
        }
        return trail
    }

    private func blame(_ trail: AuditTrail, _ customer: ObjectID) throws {
        for row in try trail.blame(of: customer, ignoring: { $0.author.actor == "formatter" }) {
            print(row.property, row.content, row.transaction?.description ?? "retired", row.author?.actor ?? "-")
        }
        if let found = try trail.firstTransaction(where: "city == 'Milan'", entity: "Customer") {
            print(found.step.entry.number, found.step.entry.author.actor ?? "-", found.objects)
        }
    }

    private func feed(_ trail: AuditTrail) throws {
        var transactions = try trail.transactions(from: TransactionNumber(rawValue: 2))
        while let step = try transactions.next() {
            print(step.entry.number, step.entry.time, step.changes.count, step.before.objectCount, step.after.objectCount)
        }
    }

    private func undo(_ store: Store, _ customer: ObjectID, _ last: TransactionNumber) throws {
        let conflicts = try store.previewUndo(.transaction(last)) { preview in preview.conflicts.map(\.description) }
        let undo = try store.undo(.transaction(last), policy: .skip, author: Author(actor: "jane"))
        print(conflicts, undo.receipt.transaction?.description ?? "nothing to undo")
        try store.revert(customer, to: .label("end of March"), author: Author(actor: "jane"))
    }

    private func list(_ path: String, to last: TransactionNumber) throws {
        try TransactionLog(of: path).forEach { entry in
            let author = entry.author
            print(entry.number, entry.time, author.actor ?? "-", author.message ?? "", author.requestID ?? "")
        }
        try TransactionLog(of: path).follow(from: TransactionNumber(rawValue: 1)) { entry in
            print(entry.number, entry.author.actor ?? "-")
            return entry.number < last  // The call returns when the closure returns false.
        }
    }

    private func verify(_ store: Store, _ path: String) throws -> Verification {
        try store.recordDigest(Author(actor: "auditor"))
        let verification = try Store.verify(at: path)
        print(verification.isSound, verification.transactionCount, verification.root)
        for finding in verification.findings { print(finding) }
        return verification
    }

    private func sign(
        _ path: String, _ customer: ObjectID, _ last: TransactionNumber, _ secret: [UInt8], _ witnessPath: String,
        _ witnessKey: SigningKey
    ) throws {
        let key = try SigningKey(name: "example.com/customers", kind: .log, secret: secret)
        let note = try Store.sign(at: path, with: [key])
        print(note)
        let trust = Trust.key(key.verifier)
        let audited = try Store.verify(at: path, against: trust.head(ofCheckpoint: note.description))
        print(audited.isSound)
        let proof = try Store.prove(last, at: path, in: note)
        let proved = try ProvedTransaction(ProofFile(parsing: Array(proof.description.utf8)), trusting: trust)
        print(proved.number, proved.time, proved.author.actor ?? "-", proved.head.size)
        let valueProof = try Store.prove("city", of: customer, at: path, in: note)
        let value = try ProvedValue(valueProof, trusting: trust)
        print(value.object, value.property, value.value.text, value.transaction.author.actor ?? "-")
        #expect(value.value == "Rome" && value.transaction.number == last)
        let memory = try Store.open(at: witnessPath, creating: Witness.schema)
        let witness = Witness(memory)
        try witness.add(key.verifier)
        let request = try Store.proveConsistency(since: 0, at: path, in: note)
        let cosigned = try witness.cosign(request, with: [witnessKey])
        print(cosigned.signatures.count)
        #expect(audited.isSound && proved.author.actor == "jane" && cosigned.signatures.count == 1)
    }

    private func compact(_ store: Store, _ path: String, archive: String, _ copy: String) throws -> Compaction {
        let compaction = try store.compact(.since(.label("end of March")), archive: archive)
        print(compaction.retiredEnd, compaction.missingFromArchive)
        let whole = try Store.verify(at: path, archive: archive)
        print(whole.isSound)
        try Store.backUp(at: path, to: copy, archive: archive)
        return compaction
    }

    private func customers(_ path: String) throws -> (store: Store, customer: ObjectID) {
        let schema = try Schema {
            EntityDefinition("Customer", identity: ["id"]) {
                AttributeDefinition("id", .int64)
                AttributeDefinition("city", .string, .optional)
            }
        }
        let store = try Store.open(at: path, creating: schema)
        return (store, try store.write { try $0.insert("Customer", ["id": 1, "city": "Oslo"]) }.result)
    }

    @Test func `an audit records, labels, compares, lists and verifies as the guide shows`() async throws {
        try await withFolder { folder in
            let path = "\(folder)/customers"
            let (store, customer) = try customers(path)
            #expect(try record(store, customer).transaction == TransactionNumber(rawValue: 3))
            try label(store)
            try recordWithParts(store, customer)
            let changes = try compare(store, customer)
            #expect(changes.map { $0.attributes.map(\.after) } == [["Milan"]])
            try undo(store, customer, store.graph.transaction)
            #expect(try store.graph[customer, "city"] == "Rome")
            try list(path, to: store.graph.transaction)
            let trail = try trace(store, customer)
            try blame(trail, customer)
            try feed(trail)
            #expect(try trail.history(of: customer).count == 4 && trail.checkHistory(of: customer).isComplete)
            #expect(try verify(store, path).isSound)
        }
    }

    @Test func `a log is signed, proved and cosigned as the guide shows`() async throws {
        try await withFolder { folder in
            let path = "\(folder)/customers"
            let (store, customer) = try customers(path)
            let last = try #require(try record(store, customer).transaction)
            let witnessKey = try SigningKey(name: "example.org/witness", kind: .witness, secret: Array(repeating: 3, count: 32))
            try sign(path, customer, last, Array(repeating: 2, count: 32), "\(folder)/witness", witnessKey)
        }
    }

    @Test func `a request with a known id and other parts is a conflict`() async throws {
        try await withFolder { folder in
            let (store, customer) = try customers("\(folder)/customers")
            try recordWithParts(store, customer)
            let other = Author(actor: "jane", requestID: "ticket-119", requestParts: ["other"])
            let error = #expect(throws: CambiumError.self) { try store.write(other) { try $0.delete(customer) } }
            #expect(error?.code == .conflict)
        }
    }

    @Test func `a compacted store and its archive make a copy with every transaction`() async throws {
        try await withFolder { folder in
            let path = "\(folder)/customers"
            let (store, customer) = try customers(path)
            try store.checkpoint()
            try label(store)
            try recordWithParts(store, customer)
            let copy = "\(folder)/copy"
            let compaction = try compact(store, path, archive: "\(folder)/archive", copy)
            #expect(compaction.retiredEnd >= TransactionNumber(rawValue: 2))
            #expect(compaction.missingFromArchive.isEmpty)
            let first = try ReadOnlyStore(at: copy, point: .transaction(TransactionNumber(rawValue: 2))).graph
            #expect(try first[customer, "city"] == "Oslo")
        }
    }
}

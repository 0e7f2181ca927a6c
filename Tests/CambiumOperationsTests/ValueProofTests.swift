import Cambium
import CambiumBytes
import CambiumModel
import CambiumProofs
import CambiumTesting
import Foundation
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumOperations

/// Proofs that a transaction has set a value.
@Suite struct ValueProofTests {
    /// An entity with an attribute of each type, and a sub-entity.
    private static func definition(_ more: String = "", label: String = "\"label\": {") throws -> SchemaDefinition {
        let attributes = AttributeType.allCases.map { "\"a_\($0.rawValue)\": {\"type\": \"\($0.rawValue)\", \"optional\": true}" }
        let json = """
            {"entities": {
                "Thing": {"identity": ["id"], "attributes": {"id": {"type": "int64"}, \(attributes.joined(separator: ", "))}},
                "Machine": {"parent": "Thing", "attributes": {"speed": {"type": "double", "default": 1}}},
                "Box": {"attributes": {\(label)"type": "string", "optional": true}\(more)},
                        "relationships": {"things": {"to": "Thing", "many": true}}}}}
            """
        return try SchemaDefinition(json: Array(json.utf8))
    }

    private static let schema = Result { try Schema(definition()) }

    private static let texts: [(name: String, values: [String])] = [
        ("bool", ["true", "false"]), ("int16", ["-5"]), ("int32", ["70000"]), ("int64", ["-9007199254740993"]), ("float", ["0.25"]),
        ("double", ["-1.5e300"]), ("decimal", ["123.45", "0"]), ("string", ["Köln", ""]), ("data", ["AAEC"]),
        ("date", ["2026-01-31T12:00:00.5Z"]), ("uuid", ["6BA7B810-9DAD-11D1-80B4-00C04FD430C8"]), ("uri", ["https://example.com/"]),
        ("json", ["{\"a\":[1,null]}"]),
    ]

    private func made(_ volume: any Volume) throws -> Store {
        try Store.create(volume, schema: Self.schema.get(), durability: .synced, environment: fixedEnvironment(), tuning: .tiny)
    }

    /// Checks the proof of a value with both verifiers, and returns it.
    private func proved(_ attribute: String, of id: ObjectID, _ volume: any Volume) throws -> ProvedValue {
        let proof = try Store.prove(attribute, of: id, volume)
        let root = try TreeHead(parsing: proof.checkpoint).root
        #expect(proof.description.utf8.count < 8192)
        return try ProvedValue(ProofFile(parsing: Array(proof.description.utf8)), trusting: .root(root))
    }

    @Test(arguments: [true, false]) func `a value of each type is proved, by the op that inserted or changed it`(isInserted: Bool) throws {
        let volume = MemoryVolume()
        let store = try made(volume)
        var number: Int64 = 0
        for (name, values) in Self.texts {
            for text in values {
                number += 1
                let type = try #require(AttributeType(rawValue: name))
                let value = try Value(written: text, type: type)
                let id = try store.write {
                    let id = try $0.insert(number % 2 == 0 ? "Machine" : "Thing", ["id": .int(number)])
                    try $0.set(id, "a_string", to: .string("x"))
                    if isInserted { try $0.set(id, "a_\(name)", to: value) }
                    return id
                }.result
                if !isInserted { try store.write { try $0.set(id, "a_\(name)", to: value) } }
                let found = try proved("a_\(name)", of: id, volume)
                #expect(found.value == value && found.property == "a_\(name)" && found.schema.rawValue == 1, "\(name)")
                #expect(found.transaction.number == store.graph.transaction)
                #expect(found.object == "\(number % 2 == 0 ? "Machine" : "Thing")/\(id.serial)")
            }
        }
        try store.close()
    }

    @Test func `a value of a row of an import is proved by less than 8 KiB, and shows only its neighbors`() throws {
        let volume = MemoryVolume()
        let store = try Store.create(volume, schema: Self.schema.get(), durability: .synced, environment: fixedEnvironment())
        let count = LongTests.areWanted ? 1_000_000 : 5000
        let rows = (1...count).map { "{\"id\":\($0),\"a_string\":\"row \($0)\",\"a_bool\":\($0 % 3 == 0),\"a_date\":null}\n" }.joined()
        _ = try store.importing("Thing", rows)
        try store.close()
        for number in LongTests.areWanted ? [777_777] : [1, 777, count] {
            let id = try #require(try ReadOnlyStore(volume).graph.find("Thing", identity: [.int(Int64(number))]))
            let proof = try Store.prove("a_string", of: id, volume)
            #expect(proof.description.utf8.count < 8192)
            let found = try ProvedValue(proof, trusting: .root(TreeHead(parsing: proof.checkpoint).root))
            #expect(found.value == .string("row \(number)") && found.transaction.number.rawValue == 2)
            let opening = try ProofOpening(proof)
            #expect(opening.leaf.piece.map { $0.piece.bytes.count < 700 && $0.proof.size > UInt64(count / 40) } == true)
            #expect(try proved("a_bool", of: id, volume).value == .bool(number % 3 == 0))
            #expect(try proved("a_date", of: id, volume).value == .null)
        }
    }

    @Test func `the search for a row of an import reads only the pieces with its serial`() throws {
        let volume = MemoryVolume()
        let store = try Store.create(volume, schema: Self.schema.get(), durability: .synced, environment: fixedEnvironment())
        _ = try store.importing("Thing", (1...2000).map { "{\"id\":\($0),\"a_string\":\"row \($0)\"}\n" }.joined())
        var (pieceCount, foundCount) = (0, 0)
        _ = try Store.record(store.graph.transaction, LogReader(volume)).opening { piece in
            var serials: [UInt64] = []
            try AssignedValue.forEach(in: piece) { serials.append($1.serial) }
            #expect(piece.serials?.lowerBound == serials.min() && piece.serials?.upperBound == serials.max())
            pieceCount += 1
            if piece.serials?.contains(777) == true { foundCount += 1 }
            return false
        }
        #expect(foundCount == 1 && pieceCount > 40)
    }

    @Test func `the last transaction that set a value is found, and the one of an earlier moment`() throws {
        let volume = MemoryVolume()
        let store = try made(volume)
        let id = try store.write { try $0.insert("Thing", ["id": 1, "a_string": "first"]) }.result
        try store.write { try $0.set(id, "a_string", to: "second") }
        for number in Int64(0)..<20 { try store.write { try $0.set(id, "a_int32", to: .int(number)) } }
        let found = try proved("a_string", of: id, volume)
        #expect(found.value == "second" && found.transaction.number.rawValue == 3)
        let earlier = try Store.prove("a_string", of: id, volume, point: .transaction(TransactionNumber(rawValue: 2)))
        #expect(try ProvedValue(earlier, trusting: .root(TreeHead(parsing: earlier.checkpoint).root)).value == "first")
        try store.close()
    }

    @Test func `a value that no change states, and an unknown name, are errors`() throws {
        let volume = MemoryVolume()
        let store = try made(volume)
        let id = try store.write { try $0.insert("Machine", ["id": 1, "a_string": "x"]) }.result
        #expect(throws: CambiumError.self) { try Store.prove("speed", of: id, volume) }
        #expect(throws: CambiumError.self) { try Store.prove("color", of: id, volume) }
        #expect(throws: CambiumError.self) { try Store.prove("a_string", of: ObjectID(root: id.root, serial: 99), volume) }
        try store.close()
    }

    @Test func `a name that a migration has changed is proved by the schema of its transaction`() throws {
        let volume = MemoryVolume()
        let store = try made(volume)
        _ = try store.migrate(to: Self.definition(", \"size\": {\"type\": \"int64\", \"optional\": true}"))
        let id = try store.write { try $0.insert("Box", ["size": 4, "label": "b"]) }.result
        #expect(try proved("size", of: id, volume).schema.rawValue == 2 && proved("label", of: id, volume).schema.rawValue == 1)
        try store.close()
    }

    @Test func `a value that was set before its attribute was renamed is proved under the name of that time`() throws {
        let volume = MemoryVolume()
        let store = try made(volume)
        let id = try store.write { try $0.insert("Box", ["label": "b"]) }.result
        let other = try store.write { try $0.insert("Box", [:]) }.result
        _ = try store.migrate(to: Self.definition(label: "\"tag\": {\"renamedFrom\": \"label\", "))
        try store.write { try $0.set(other, "tag", to: "c") }
        let (former, later) = (try proved("tag", of: id, volume), try proved("tag", of: other, volume))
        #expect(former.property == "label" && former.value == "b" && former.schema.rawValue == 1)
        #expect(later.property == "tag" && later.value == "c" && later.schema.rawValue == 4)
        try store.close()
    }

    @Test func `an object, an attribute or a row that the proof does not open is refused`() throws {
        let volume = MemoryVolume()
        let store = try made(volume)
        let id = try store.write { try $0.insert("Thing", ["id": 1, "a_string": "x", "a_int32": 7]) }.result
        let proof = try Store.prove("a_string", of: id, volume)
        let root = try TreeHead(parsing: proof.checkpoint).root
        let extra = String(decoding: try #require(proof.extra), as: UTF8.self)
        let changes = [
            ("\"Thing/1\"", "\"Thing/2\""), ("\"Thing/1\"", "\"Machine/1\""), ("\"a_string\"", "\"a_json\""),
            ("\"operation\":0", "\"operation\":1"),
            ("\"kind\":0", "\"kind\":1"), ("\"index\":0", "\"index\":1"), ("\"piece\":0", "\"piece\":1"),
        ]
        for (old, new) in changes {
            #expect(extra.contains(old))
            let forged = ProofFile(
                extra: Array(extra.replacing(old, with: new).utf8), index: proof.index, path: proof.path, checkpoint: proof.checkpoint)
            #expect(throws: CambiumError.self, "\(new)") { try ProvedValue(forged, trusting: .root(root)) }
        }
        try store.close()
    }
}

import Cambium
import CambiumLog
import TestFixtures
import Testing

@Suite struct ImportTests {
    @Test func `rows are inserted, found again by their identity, and updated`() throws {
        let store = try Store.notes()
        let first = try store.importing("Note", #"[{"id":1,"title":"a"},{"id":2}]"#)
        #expect(first.counts.inserted == 2 && first.transaction != nil)
        let second = try store.importing("Note", #"{"id":1,"title":"b"}"# + "\n" + #"{"id":2,"title":""}"#)
        #expect(second.counts.updated == 1 && second.counts.unchanged == 1)
        #expect(try store.graph.json("Note/1").contains(#""title":"b""#))
    }

    @Test(arguments: [
        #"{"id":1,"title":"a","items":[{"key":"x","tags":["red",{"name":"blue","color":"b"}]},"y"],"memos":[],"related":[2,3]}"#,
        #"[{"id":1,"rating":0.1,"created":"2026-01-31T12:00:00.125Z"},{"id":1,"rating":1e3}]"#,
        #"{"id":7,"items":["a","b"]} {"id":8,"items":["c"]}"#,
    ])
    func `importing the same rows again changes nothing and writes nothing`(rows: String) throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try store.importing("Note", rows)
        let before = volume.contents
        let again = try store.importing("Note", rows)
        #expect(again.transaction == nil && again.logByteCount == 0)
        #expect(again.counts.inserted == 0 && again.counts.updated == 0)
        #expect(volume.contents == before)
    }

    @Test func `nested objects, ids and stubs may be mixed, and keep their order`() throws {
        let store = try Store.notes()
        try store.importing(
            "Note", #"{"id":1,"memos":[{"text":"c"},{"text":"a"},{"text":"b"}],"items":["k1",{"key":"k2","count":3},null,"k1"]}"#)
        #expect(try store.graph.json("Note/1", including: ["memos"]).contains(#""text":"c","note":"Note/1"},{"_id":"Memo/2","text":"a""#))
        #expect(try store.graph.json("Note/1").contains(#""items":["Item/1","Item/2"]"#))
        #expect(try store.graph.json("Item/1") == #"{"_id":"Item/1","_stub":true,"key":"k1","count":null,"note":"Note/1","tags":[]}"#)
    }

    @Test func `a stub lasts until a row fills it, and only that row must have the mandatory values`() throws {
        let definition = SchemaDefinition {
            EntityDefinition("A", identity: ["id"]) {
                AttributeDefinition("id", .int64)
                AttributeDefinition("name", .string)
                AttributeDefinition("size", .int32, default: 5)
                RelationshipDefinition("next", to: "A")
            }
        }
        let store = try Store.inMemory(schema: try Schema(definition))
        let report = try store.importing("A", #"{"id":1,"name":"x","next":2}"#)
        #expect(report.counts.inserted == 1 && report.counts.stubs == 1)
        #expect(try store.graph.json("A/2") == #"{"_id":"A/2","_stub":true,"id":2,"name":null,"size":null,"next":null}"#)
        #expect(store.refusal("A", #"{"id":2}"#)?.code == .missingMandatory)
        try store.importing("A", #"{"id":2,"name":"y"}"#)
        #expect(try store.graph.json("A/2") == #"{"_id":"A/2","id":2,"name":"y","size":5,"next":null}"#)
    }

    @Test func `a row that completes a stub clears the values that the next import of the row would clear`() throws {
        let store = try Store.notes()
        try store.importing("Note", #"{"id":1,"related":[2]}"#)
        let stub = try #require(try store.graph.find("Note", identity: [2]))
        try store.write { try $0.set(stub, "rating", to: .double(2.5)) }
        let row = #"{"id":2,"title":"b"}"#
        try store.importing("Note", row) { $0.missing = .clear }
        #expect(try store.graph.json("Note/2").contains(#""title":"b","rating":null"#))
        #expect(try store.importing("Note", row) { $0.missing = .clear }.transaction == nil)
    }

    @Test func `several rows with the same identity are one object`() throws {
        let store = try Store.notes()
        let report = try store.importing("Note", #"[{"id":1,"related":[2,2]},{"id":2,"title":"b"},{"id":1,"title":"z"}]"#)
        #expect(report.counts.inserted == 2 && report.counts.repeated == 1 && report.counts.stubs == 0)
        #expect(store.graph.objectCount == 2 && store.graph.linkCount == 1)
    }

    @Test func `a row may name itself, and describe an object twice`() throws {
        let store = try Store.notes()
        try store.importing("Note", #"{"id":1,"related":[1,5,{"id":5,"title":"five"}]}"#)
        #expect(try store.graph.json("Note/2").contains(#""title":"five""#))
        #expect(try !store.graph.json("Note/2").contains("_stub"))
        #expect(try store.graph.json("Note/1").contains(#""related":["Note/1","Note/2"]"#))
    }

    @Test(arguments: [
        (#"{"id":"x"}"#, ImportReport.RowError.Code.typeMismatch, "/id"), (#"{"title":"x"}"#, .missingIdentity, ""),
        (#"{"id":1,"title":null}"#, .nullValue, "/title"), (#"{"id":1,"rating":"x"}"#, .typeMismatch, "/rating"),
        (#"{"id":1,"items":[{"key":"a"},{"count":1}]}"#, .missingIdentity, "/items/1"),
        (#"{"id":1,"items":[{"key":"a","tags":[[1]]}]}"#, .typeMismatch, "/items/0/tags/0"), (#"[[1]]"#, .notAnObject, ""),
        (#"{"id":1,"created":"2026-13-01T00:00:00Z"}"#, .typeMismatch, "/created"), (#"{"id":1,"memos":[5]}"#, .typeMismatch, "/memos/0"),
        (#"{"id":1,"id":2}"#, .malformed, ""), (#"{"id":1,}"#, .malformed, ""), (#"{"id":99999999999999999999}"#, .typeMismatch, "/id"),
    ])
    func `a bad row stops the import and its error states the position`(
        row: String, code: ImportReport.RowError.Code, pointer: String
    ) throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        let before = volume.contents
        let error = try #require(store.refusal("Note", "{\"id\":50}\n" + row))
        #expect(error.code == code && error.pointer == pointer && error.row == 2 && error.line == 2)
        #expect(volume.contents == before && store.graph.objectCount == 0)
    }

    @Test(arguments: [
        (#"[{"id":1},]"#, 2, "expected a value after the comma, but found ']', at column 11"),
        (#"[{"id":1},,{"id":2}]"#, 2, "expected a value after the comma, but found ',', at column 11"),
        (#"[,{"id":1}]"#, 1, "expected a value, but found ',', at column 2"),
        ("[}]", 1, "expected a value, but found '}', at column 2"),
    ])
    func `an array with a comma and no value is refused, and the error names the comma`(text: String, row: Int, message: String) throws {
        let error = try #require(try Store.notes().refusal("Note", text))
        #expect(error.code == .malformed && error.row == row && error.message == "malformed JSON: \(message)")
    }

    @Test(arguments: [
        (#"{"id":true}"#, ImportReport.RowError.Code.typeMismatch, "/id", "'id': expected a whole number of 64 bits, but found true"),
        (#"{"id":null}"#, .nullValue, "/id", "'id' is null, but must have a value"),
        (#"{"id":1,"items":[{"key":7}]}"#, .typeMismatch, "/items/0/key", "'key': expected a string, but found the number 7"),
    ])
    func `an identity is never kept, and its error states the value`(
        row: String, code: ImportReport.RowError.Code, pointer: String, message: String
    ) throws {
        let store = try Store.notes()
        let error = try #require(store.refusal("Note", row) { ($0.null, $0.mismatch) = (.keep, .keep) })
        #expect(error.code == code && error.pointer == pointer && error.message == message, "\(error)")
    }

    @Test func `null is not the identity of an object`() throws {
        let store = try Store.inMemory(
            schema: Schema { EntityDefinition("Thing", identity: ["id"]) { AttributeDefinition("id", .int64, .optional) } })
        let error = try #require(store.refusal("Thing", #"{"id":null}"#))
        #expect(error.code == .missingIdentity && error.message == "'id' is null, but it is part of the identity")
    }

    @Test func `bad rows can be skipped whole, and the rest is imported`() throws {
        let store = try Store.notes()
        let rows = ["{\"id\":1}", "{\"id\":2,\"items\":[\"a\",{\"count\":1}]}", "{bad", "{\"id\":3}"].joined(separator: "\n")
        let report = try store.importing("Note", rows) { $0.onError = .skip }
        #expect(report.errors.map(\.row) == [2, 3] && report.counts.inserted == 2)
        #expect(store.graph.objectCount == 2)
    }

    @Test func `the report of an import whose input fails has the rows that were skipped before`() throws {
        let store = try Store.notes()
        let rows = ImportSource.bytes(Array("{\"id\":\"x\"}\n{\"id\":1,\"color\":2}".utf8))
        let gone = ImportSource(name: "gone", isRepeatable: true) { throw CambiumError(.ioFailure, "The disk is gone.") }
        var options = ImportOptions()
        options.onError = .skip
        var reached = ImportReport()
        #expect(throws: CambiumError.self) {
            try store.importRows(try store.schema.required("Note"), from: [rows, gone], options, reached: { reached = $0 })
        }
        #expect(reached.rowCount == 2 && reached.errors.map(\.row) == [1] && reached.unknownKeys == ["color": 1])
        #expect(reached.transaction == nil && store.graph.objectCount == 0)
    }

    @Test func `the report of an import that a broken rule stops has the rows that were read`() throws {
        var definition = Notes.schema.definition
        definition.entities[0].unique = [["title"]]
        let store = try Store.inMemory(schema: try Schema(definition))
        let rows = ImportSource.bytes(Array("{\"id\":1,\"title\":\"a\",\"color\":2}\n{\"id\":2,\"title\":\"a\"}".utf8))
        var reached = ImportReport()
        #expect(throws: CambiumError.self) {
            try store.importRows(try store.schema.required("Note"), from: [rows], reached: { reached = $0 })
        }
        #expect(reached.rowCount == 2 && reached.unknownKeys == ["color": 1])
        #expect(reached.errors.map(\.row) == [2] && reached.errors.map(\.code) == [.duplicate])
    }

    @Test func `the report of an import that a bad row stops has the unknown keys of this row`() throws {
        let store = try Store.notes()
        let rows = ImportSource.bytes(Array("{\"id\":1,\"colour\":2}\n{\"Id\":2,\"colour\":3,\"items\":[{\"Key\":\"a\"}]}".utf8))
        var reached = ImportReport()
        #expect(throws: CambiumError.self) {
            try store.importRows(try store.schema.required("Note"), from: [rows], reached: { reached = $0 })
        }
        #expect(reached.errors.map(\.code) == [.missingIdentity] && reached.unknownKeys == ["colour": 2, "Id": 1])
        #expect(store.graph.objectCount == 0)
    }

    @Test func `rows that break a rule found at the end are skipped as well`() throws {
        let definition = SchemaDefinition {
            EntityDefinition("Parent", identity: ["id"]) {
                AttributeDefinition("id", .int64)
                AttributeDefinition("mail", .string, .optional)
                RelationshipDefinition("children", to: "Parent", .toMany, inverse: "parent")
                RelationshipDefinition("parent", to: "Parent", inverse: "children")
            }
        }
        var limited = definition
        limited.entities[0].relationships[0].maxCount = 2
        limited.entities[0].unique = [["mail"]]
        let store = try Store.inMemory(schema: try Schema(limited))
        let rows = #"[{"id":1,"mail":"a"},{"id":2,"parent":1},{"id":3,"mail":"a"},{"id":4,"parent":1},{"id":5,"parent":1},{"id":6}]"#
        let report = try store.importing("Parent", rows) { $0.onError = .skip }
        #expect(report.errors.map(\.row) == [3, 5])
        #expect(report.errors.map(\.code) == [.duplicate, .ruleViolated])
        #expect(report.counts.inserted == 4)
        #expect(store.refusal("Parent", #"{"id":9,"mail":"a"}"#)?.code == .duplicate)
    }

    @Test func `every option has its documented effect`() throws {
        func imported(_ row: String, _ change: (inout ImportOptions) -> Void) throws -> String {
            let store = try Store.notes()
            try store.importing("Note", #"{"id":1,"title":"t","rating":2.5,"items":["a"]}"#)
            try store.importing("Note", row, change)
            return try store.graph.json("Note/1")
        }
        #expect(try imported(#"{"id":1,"rating":null}"#) { $0.null = .keep }.contains(#""rating":2.5"#))
        #expect(try imported(#"{"id":1,"rating":null}"#) { _ in }.contains(#""rating":null"#))
        #expect(try imported(#"{"id":1,"rating":"x"}"#) { $0.mismatch = .null }.contains(#""rating":null"#))
        #expect(try imported(#"{"id":1,"rating":"x"}"#) { $0.mismatch = .keep }.contains(#""rating":2.5"#))
        #expect(try imported(#"{"id":1,"title":"u"}"#) { $0.existing = .skip }.contains(#""title":"t""#))
        #expect(try imported(#"{"id":1,"title":"u"}"#) { $0.missing = .clear }.contains(#""rating":null,"created":null,"items":[]"#))
        #expect(try imported(#"{"id":1,"items":["b"]}"#) { $0.toMany = .append }.contains(#""items":["Item/1","Item/2"]"#))
        #expect(try imported(#"{"id":1,"items":["b"]}"#) { _ in }.contains(#""items":["Item/2"]"#))
        #expect(try imported(#"{"id":1,"items":["b"]}"#) { $0.references = .skip }.contains(#""items":[]"#))
        #expect(try imported(#"{"id":1,"title":"u"}"#) { $0.effect = .dryRun }.contains(#""title":"t""#))
    }

    @Test(arguments: [nil, 2] as [Int?])
    func `a row updates a new object of its transaction even if existing objects are skipped`(batch: Int?) throws {
        let store = try Store.notes()
        let rows = #"[{"id":1,"title":"a"},{"id":1,"title":"b","related":[2]},{"id":1,"title":"c"},{"id":2,"title":"d"}]"#
        try store.importing("Note", rows) { ($0.existing, $0.batchRowCount) = (.skip, batch) }
        #expect(try store.graph.json("Note/1").contains(batch == nil ? #""title":"c""# : #""title":"b""#))
        #expect(try store.graph.json("Note/2").contains(#""title":"d""#), "a stub is filled")
    }

    @Test func `keys that map to no property are counted or refused`() throws {
        let store = try Store.notes()
        let report = try store.importing("Note", #"[{"id":1,"x":1,"items":[{"key":"a","y":[]}]},{"id":2,"x":1}]"#)
        #expect(report.unknownKeys == ["x": 2, "y": 1])
        #expect(try store.importing("Note", "{\"id\":1,\"x\":1}\n{bad\n") { $0.onError = .skip }.unknownKeys == ["x": 1])
        #expect(store.refusal("Note", #"{"id":1,"x":1}"#) { $0.unknown = .error }?.pointer == "/x")
        #expect(store.refusal("Note", #"{"id":1,"items":["nope"]}"#) { $0.references = .error }?.code == .unknownReference)
    }

    @Test func `each batch is a separate transaction`() throws {
        let store = try Store.notes()
        let rows = (1...10).map { "{\"id\":\($0)}" }.joined(separator: "\n")
        let report = try store.importing("Note", rows) { $0.batchRowCount = 3 }
        #expect(report.rowCount == 10 && report.counts.inserted == 10 && report.transaction?.rawValue == 5)
        _ = store.refusal("Note", "{\"id\":20}\n{\"id\":21}\n{\"id\":null}") { $0.batchRowCount = 2 }
        #expect(store.graph.objectCount == 12)
    }

    @Test func `a dry run finds the objects of earlier batches`() throws {
        let store = try Store.notes()
        let rows = #"{"id":1,"items":[{"key":"a"}]}"# + "\n" + #"{"id":2,"items":["a"]}"# + "\n" + #"{"id":1,"title":"t"}"#
        let report = try store.importing("Note", rows) {
            $0.batchRowCount = 1
            $0.references = .error
            $0.effect = .dryRun
        }
        #expect(report.counts.inserted == 2 && report.counts.repeated == 1 && report.transaction == nil)
        #expect(store.graph.objectCount == 0)
        _ = try store.importing("Note", rows) {
            $0.batchRowCount = 1
            $0.references = .error
        }
        #expect(store.graph.objectCount == 3)
    }

    @Test func `sub-entities are found through their parent and distinguished by a key`() throws {
        var definition = SchemaDefinition {
            EntityDefinition("Animal", identity: ["name"]) { AttributeDefinition("name", .string) }
            EntityDefinition("Dog", parent: "Animal") { AttributeDefinition("breed", .string, .optional) }
            EntityDefinition("Cat", parent: "Animal") { AttributeDefinition("lives", .int16, default: 9) }
        }
        definition.entities[0].isAbstract = true
        let store = try Store.inMemory(schema: try Schema(definition))
        let rows = #"[{"kind":"Dog","name":"Rex"},{"kind":"c","name":"Tom"}]"#
        try store.importing("Animal", rows) { $0.mapping = ImportMapping(entityFrom: "kind", entityNames: ["c": "Cat"]) }
        try store.importing("Animal", #"{"name":"Rex","breed":"collie"}"#)
        #expect(
            store.graph.export
                == "{\"_id\":\"Dog/1\",\"name\":\"Rex\",\"breed\":\"collie\"}\n{\"_id\":\"Cat/2\",\"name\":\"Tom\",\"lives\":9}\n")
        #expect(store.refusal("Dog", #"{"name":"Tom"}"#)?.code == .duplicate)
        #expect(store.refusal("Animal", #"{"name":"Kim"}"#)?.code == .unknownEntity)
    }

    @Test func `an identity of several attributes needs a value for each of them`() throws {
        let definition = SchemaDefinition {
            EntityDefinition("Card", identity: ["suit", "value"]) {
                AttributeDefinition("suit", .string)
                AttributeDefinition("value", .int16)
                AttributeDefinition("note", .string, .optional)
            }
            EntityDefinition("Hand") { RelationshipDefinition("cards", to: "Card", .orderedToMany) }
        }
        let store = try Store.inMemory(schema: try Schema(definition))
        try store.importing("Hand", #"{"cards":[{"suit":"h","value":2},{"value":3,"suit":"h"},{"suit":"h","value":2,"note":"x"}]}"#)
        #expect(store.graph.objectCount == 3)
        #expect(try store.graph.json("Card/1").contains(#""note":"x""#))
        #expect(store.refusal("Card", #"{"suit":"h"}"#)?.code == .missingIdentity)
        #expect(store.refusal("Hand", #"{"cards":["h"]}"#)?.code == .typeMismatch)
    }
}

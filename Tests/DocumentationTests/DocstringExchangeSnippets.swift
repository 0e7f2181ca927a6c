import Cambium
import CambiumCoreData
import Foundation

/// The examples of the docstrings about imports, exports and JSON, word for word. The code is compiled only.
enum DocstringExchangeSnippets {
    struct Row: Encodable {
        var id: Int
    }

    struct Feed {
        var people: AsyncStream<Row>
    }

    static func importRows(_ store: Store) throws {
        let report = try store.importRows(Note.self, from: .file("notes.json"))
        print(report.counts.inserted, report.counts.updated, report.counts.unchanged)
        for error in report.errors { print(error.row, error.pointer, error.message) }
    }

    static func tryImport(_ store: Store) throws {
        var options = ImportOptions.ignoringUnknownKeys
        options.onError = .skip
        options.effect = .dryRun
        let report = try store.importRows(Note.self, from: .file("notes.json"), options: options)
        print(report.counts.inserted, report.errors.count)
    }

    static func readEnvelope() throws {
        var options = ImportOptions()
        options.rows = try RowPointer("/data")  // {"total": 2, "data": [{"id": 1}, {"id": 2}]}
        print(options)
    }

    static func deleteAbsent(_ store: Store) throws {
        var options = ImportOptions()
        options.absent = .delete
        options.absentMax = .percent(10)
        try store.importRows(Note.self, from: .file("notes.json"), options: options)
    }

    static func importSources(_ store: Store) throws {
        let rows = ImportSource.bytes(Array(#"[{"id": 1, "title": "Paris"}]"#.utf8))
        try store.importRows(Note.self, from: rows, .file("more.csv"))
    }

    static func importValues(_ store: Store, _ person: Entity, _ people: [Row]) throws -> ImportReport {
        let report = try store.importRows(person, from: [.rows(people)])
        return report
    }

    static func importFeed(_ store: Store, _ person: Entity, _ feed: Feed) async throws -> ImportReport {
        let report = try await store.importRows(person, rows: feed.people)
        return report
    }

    static func importHooks() -> ImportHooks {
        let hooks = ImportHooks(finish: { transaction, id, row in try transaction.set(id, "source", to: .string("feed")) })
        return hooks
    }

    static func importHooksOfRecords() -> ImportHooks {
        let hooks = ImportHooks(Note.self) { transaction, note, row in
            try transaction.set(note.id, "source", to: "feed")
        }
        return hooks
    }

    static func importRecords(_ store: Store) throws -> [Note] {
        let notes = try store.importRecords(Note.self, from: [.file("notes.json")]).records
        return notes
    }

    // MARK: Mappings

    static func mapping() -> ImportOptions {
        var options = ImportOptions()
        options.mapping = ImportMapping(entity: "Person", attributes: ["fullName": "name.full"])
        return options
    }

    static func properties() -> [PropertyMapping] {
        let born = PropertyMapping(.path("dob"), dates: [.iso8601, .pattern("dd MMM yy HH:mm")], zone: "+01:00")
        let name: PropertyMapping = "name.full"
        return [born, name]
    }

    static func dates(_ options: inout ImportOptions) {
        let born = PropertyMapping(.path("dob"), dates: [.secondsSince1970, .pattern("dd.MM.yyyy")])
        options.mapping = ImportMapping(entity: "Person", attributes: ["born": born])
    }

    static func numbers(_ options: inout ImportOptions) {
        let price = PropertyMapping(.path("Preis"), numbers: NumberFormat(decimal: ",", grouping: "."))
        options.mapping = ImportMapping(entity: "Product", attributes: ["price": price])
    }

    static func objects(_ options: inout ImportOptions) {
        let product = ObjectMapping(attributes: ["name": "title.en"], relationships: ["shelf": "place.code"])
        options.mapping = ImportMapping(entity: "Order", nested: ["Product": product])
    }

    static func functions(_ options: inout ImportOptions) {
        let words: [String: JSONValue] = ["A": .string("active"), "C": .string("closed")]
        let state = PropertyMapping(.path("status"), functions: [.trim, .upper, .lookup(words)])
        options.mapping = ImportMapping(attributes: ["state": state])
    }

    // MARK: Exports

    static func exportOptions() -> ExportOptions {
        var options = ExportOptions()
        options.references = .identity  // An import of another store can read these.
        return options
    }

    static func include(_ store: Store) throws {
        let note = try store.schema.required("Note")
        var options = ExportOptions()
        options.include = try IncludeTree(["items.tags"], from: note, store.schema)
        try store.graph.export(note, options) { print(String(decoding: $0, as: UTF8.self), terminator: "") }
    }

    static func exportHooks() -> ExportHooks {
        let hooks = ExportHooks { graph, id, row in row["internal"] == .bool(true) ? .leaveOut : .write }
        return hooks
    }

    static func exportHooksOfRecords() -> ExportHooks {
        let hooks = ExportHooks(Note.self) { note, row in note.isPrivate ? .leaveOut : .write }
        return hooks
    }

    // MARK: Encoders and decoders

    static func encode(_ note: Note, _ store: Store) throws -> Data {
        let data = try JSONEncoder().encode(ExportedRecord(note, in: store.graph))
        return data
    }

    static func encode(_ notes: [Note], _ store: Store, _ options: ExportOptions) throws -> Data {
        let data = try JSONEncoder().encode(ExportedRecords(notes, in: store.graph, options))
        return data
    }

    static func decode(_ data: Data, _ decoder: JSONDecoder) throws -> Note {
        let note = try decoder.decode(ImportedRecord<Note>.self, from: data).record
        return note
    }

    static func decode(_ data: Data, into store: Store) throws -> [Note] {
        let decoder = JSONDecoder()
        decoder.userInfo[.cambiumStore] = store
        let notes = try decoder.decode(ImportedRecords<Note>.self, from: data).records
        return notes
    }

    static func json() {
        let row = JSONValue.object([.init("title", .string("Paris")), .init("days", .number("3"))])
        print(row["title"] == .string("Paris"), row.text)  // true {"title":"Paris","days":3}
    }

    static func coreData() throws -> SchemaDefinition {
        let definition = try SchemaDefinition(coreDataModel: "Notes.xcdatamodeld")
        for warning in definition.warnings { print(warning) }
        return definition
    }
}

import Cambium
import Foundation
import Testing

/// The Swift code of the documents in Docs, word for word.
@Suite struct ReferenceSnippets {
    let schema: Schema

    init() throws {
        schema = try Schema {
            EntityDefinition("Person", identity: ["personId"]) {
                AttributeDefinition("personId", .int64)
                AttributeDefinition("fullName", .string, .optional)
                AttributeDefinition("born", .date, .optional)
                AttributeDefinition("source", .string, .optional)
            }
        }
    }

    func compare(_ path: String) throws -> Int {
        let store = try Store.open(at: path)
        let changes = store.graph.changes(since: try store.graph(at: .label("monday")))
        for object in changes {
            print(object.kind, object.entity.name, object.id)
            for change in object.attributes { print("  \(change.attribute.name): \(change.before) -> \(change.after)") }
            for change in object.relationships { print("  \(change.relationship.name): -\(change.removed.count) +\(change.added.count)") }
        }
        print(changes.labels.count, changes.changesSchema)
        return changes.count
    }

    func texts(of values: [QueryValue], _ graph: Graph) -> [String] {
        values.map { value in
            switch value {
            case .value(let value): value.text
            case .object(let id): graph.name(of: id) ?? ""
            case .list(let values): texts(of: values, graph).joined(separator: ", ")
            }
        }
    }

    private func find(_ graph: Graph) throws -> (Int, ObjectID?) {
        var query = try Query("Person", where: "age > $age and any tags.name == \"red\"", ["age": 30], sort: "-age,name")
        query.limit = 20
        for id in try graph.find(query) { print(graph.name(of: id) ?? "") }
        let count = try graph.count(query)
        let oldest = try graph.first(query)

        let byCity = Grouping(by: [try Operand(parsing: "city")], [.count, Aggregate(.avg, of: try Operand(parsing: "age"))])
        for row in try graph.aggregate(Query("Person"), byCity) { print(texts(of: row.group, graph), texts(of: row.values, graph)) }

        let paths = try ["name", "owner.name", "tags.name"].map { try Operand(parsing: $0) }
        for row in try graph.values(of: paths, query) { print(texts(of: row, graph)) }
        return (count, oldest)
    }

    func divide(_ graph: Graph) throws -> ([Product], [ObjectID]) {
        let whole = try graph.fetch(RecordQuery<Product>("name != null"))
        let stubs = try graph.find(Query("Product", where: "name == null"))
        return (whole, stubs)
    }

    func summarize(_ graph: Graph) throws -> (Value, Double?, [Int], [[String]]) {
        let total = try graph.sum(\Product.price, of: RecordQuery<Product> { $0.shelf.code == "A" })
        let mean = try graph.average(\Product.price)
        let counts = try graph.counts(RecordQuery<Product>()) { $0.shelf.code }

        let prices = Grouping(by: [try Operand(parsing: "shelf.code")], [.count, Aggregate(.sum, of: try Operand(parsing: "price"))])
        let rows = try graph.aggregate(RecordQuery<Product> { $0.price > 1 }.query, prices)
        return (total, mean, counts.map(\.count), rows.map { texts(of: $0.group + $0.values, graph) })
    }

    private func stored(_ store: Store, _ team: ObjectID) async throws -> [ObjectID] {
        let graph = store.graph
        let top = try graph.find(graph.query("Team", named: "top", ["min": 3]))
        var rivals = try graph.query("Team", named: "rivals", ["source": .object(team)])
        rivals.limit = 5
        for try await update in store.live(rivals) { print(update.count) }
        return top
    }

    private func walk(_ graph: Graph, from jane: ObjectID, to john: ObjectID) throws -> Int {
        let follows = try graph.walk(along: ["follows"])
        for object in try follows.objects(from: [jane], within: 2) { print(object.distance, object.id) }
        if let path = try follows.path(from: jane, to: john) { print("\(path.count - 1) steps") }
        let components = try follows.components()
        print(components.sizes.count, components.sizes.first ?? 0, components.component(of: jane) == components.component(of: john))
        do {
            print(try graph.walk(along: ["dependencies"]).topologicalOrder())
        } catch {
            print(error.message, (error.underlying as? LinkCycle)?.objects ?? [])
        }
        return components.sizes.count
    }

    private func observe(_ path: String, after first: TransactionNumber) async throws -> TransactionNumber {
        var last = first
        let store = try Store.open(at: path)
        for try await committed in store.changes(from: last) {
            for object in committed.changes { print(committed.transaction, object.kind, object.id) }
            last = committed.transaction
        }
        return last
    }

    private func watch(_ store: Store) async throws {
        for try await committed in store.changes() {
            print(committed.time?.description ?? "", committed.author?.actor ?? "-")
            for object in committed.changes {
                switch object.kind {
                case .inserted: print("inserted", committed.changes.after.name(of: object.id) ?? "")
                case .deleted: print("deleted", committed.changes.before.name(of: object.id) ?? "")
                case .changed:
                    for change in object.attributes { print(change.attribute.name, change.before.text, change.after.text) }
                    for change in object.relationships { print(change.relationship.name, change.added, change.removed) }
                }
            }
        }
    }

    private func show(_ committed: CommittedChanges) throws -> [String] {
        let tags = try committed.changes.records(of: Tag.self)
        for tag in tags.inserted { print("new:", tag.name) }
        for (before, after) in tags.changed { print("changed:", before.name, after.name) }
        for tag in tags.deleted { print("deleted:", tag.name) }
        return tags.inserted.map(\.name) + tags.deleted.map(\.name)
    }

    private func follow(_ path: String) async throws -> [ObjectID] {
        var ids: [ObjectID] = []
        let store = try Store.open(at: path)
        let query = try Query("Person", where: "age > 30", sort: "-age", limit: 50)
        for try await update in store.live(query) {
            update.apply(to: &ids)
            print(update.transaction, update.inserted.count, update.deleted.count, update.moved.count, update.updated.count)
        }
        return ids
    }

    func measure(_ path: String) throws -> StoreMetrics {
        let store = try Store.open(at: path)
        let metrics = store.metrics
        if let hold = metrics.longestHolds.first { print("longest hold of the lock: \(hold.use) \(hold.duration)") }
        print(metrics.commitCount, metrics.syncCount, metrics.waitingCommitCount, metrics.pinnedByteCount)
        return metrics
    }

    private func migrate(_ store: Store, to definition: SchemaDefinition) throws {
        for entry in try store.previewMigration(to: definition).entries {
            print(entry.change.entity, entry.change.property ?? "", entry.change.kind, entry.handling, entry.lostCount)
        }
        try store.migrate(to: definition, Author(actor: "jane")) { before, transaction in
            // Only for what is not automatic: `before` has the old values, `transaction` the new schema.
        }
    }

    private func importPeople(_ store: Store, _ person: Entity, _ path: String) throws -> ImportReport {
        var options = ImportOptions.clearingUnusableValues
        options.mapping = ImportMapping(
            entity: "Person", attributes: ["fullName": "name.full", "born": PropertyMapping(.path("dob"), dates: [.secondsSince1970])])
        struct DeletedPerson: Error {}

        let hooks = ImportHooks(
            prepare: { row in if row["deleted"] == .bool(true) { throw DeletedPerson() } },
            finish: { transaction, id, row in try transaction.set(id, "source", to: "feed") })
        let report = try store.importRows(person, from: [.file(path)], options, hooks: hooks)
        return report
    }

    private func export(_ store: Store, _ person: Entity) throws -> [UInt8] {
        var output: [UInt8] = []
        var options = ExportOptions()
        options.mapping = ImportMapping(entity: "Person", attributes: ["fullName": "name.full"])
        let hooks = ExportHooks { graph, id, row in row["source"] == .string("feed") ? .write : .leaveOut }
        try store.graph.export(person, options, hooks: hooks) { bytes in output += bytes }
        return output
    }

    struct Person: Encodable {
        var personId: Int
        var fullName: String?
        var born: Date?
    }

    /// Needs files and sequences of the caller, so it is compiled only.
    private func importSequences(
        _ store: Store, _ person: Entity, feed: AsyncStream<Person>, body: AsyncStream<[UInt8]>
    ) async throws -> [ImportReport] {
        let report = try await store.importRows(person, from: [.file("people.json.gz"), .rows([Person(personId: 7)])])
        let people = try await store.importRows(person, rows: feed)  // an AsyncSequence of Encodable values
        let uploaded = try await store.importRows(person, bytes: body, format: .csv)  // or of pieces of bytes, cut anywhere
        return [report, people, uploaded]
    }

    @Test func `the code of the document about edits runs`() throws {
        let store = try Store.inMemory(schema: schema)
        let person = try store.write { try $0.insert("Person", ["personId": 1]) }.result
        var edit = store.edit()
        try edit.set(person, "fullName", to: "Jane Doe")
        let friend = try edit.insert("Person", ["personId": 7])
        try edit.delete(person)
        edit.undo()
        print(try edit[person, "fullName"], edit.changes.count)
        let committed = try store.commit(&edit, policy: .mine, author: Author(actor: "jane"))
        print(committed.id(of: friend))
        #expect(try store.graph[person, "fullName"] == "Jane Doe")
        #expect(try store.graph.find("Person", identity: [7]) == committed.id(of: friend))
    }

    struct Tag: EntityRecord {
        var name: String
        var books = ToMany<Book>()
        var ref: Ref<Tag>?

        static let recordSchema = RecordSchema<Tag>("Tag") {
            RecordProperty("name", \.name, .identity)
            RecordProperty("books", \.books)
        }
        init(from row: inout RecordReader) throws {
            name = try row.read("name")
            books = try row.read("books")
            ref = row.ref()
        }
    }

    struct Book: EntityRecord {
        var title: String
        var tags: Set<Ref<Tag>>
        var ref: Ref<Book>?

        static let recordSchema = RecordSchema<Book>("Book") {
            RecordProperty("title", \.title)
            RecordProperty("tags", \.tags, .inverse("books"))
        }
        init(from row: inout RecordReader) throws {
            title = try row.read("title")
            tags = try row.read("tags")
            ref = row.ref()
        }
        mutating func write(to row: inout RecordWriter) throws {
            try row.write("title", &title)
            try row.write("tags", &tags)
        }
    }

    func rename(_ store: Store) throws {
        var edit = store.edit()
        if var tag = try edit.find(Tag.self, identity: "red") {
            tag.name = "rose"
            try edit.save(&tag)
        }
        try store.commit(&edit, author: Author(actor: "jane"))
    }

    func overwrite(_ store: Store, _ edit: inout Edit) throws {
        let newest = store.graph
        for conflict in edit.conflicts(with: newest) { print(conflict) }
        try edit.rebase(onto: newest, policy: .mine)
        try store.commit(&edit, author: Author(actor: "jane"))
    }

    func undo(_ store: Store, _ tag: inout Tag) throws -> Edit {
        var edit = store.edit()
        tag.name = "rose"
        try edit.save(&tag)
        edit.undo()
        if let ref = tag.ref { tag = try edit.load(ref) }  // Before this line, tag.name is still "rose".
        return edit
    }

    func renameAndWait(_ store: Store, _ tag: inout Tag) async throws -> Int? {
        var updates = store.changes().makeAsyncIterator()
        tag.name = "rose"
        try store.save(&tag, Author(actor: "jane"))
        let committed = try await updates.next()
        print(committed?.changes.count ?? 0)
        return committed?.changes.count
    }

    func copy(_ shelf: Shelf, in store: Store) throws {
        try store.write(Author(actor: "manager")) { transaction in
            let clone = try transaction.clone(shelf, CloneRequest(excluding: ["products"], rootValues: ["code": "B"]))
            var copy = try transaction.load(clone)
            copy.products = shelf.products.map { original in
                var product = original
                (product.ref, product.sku) = (nil, "\(original.sku)-copy")
                return product
            }
            try transaction.save(&copy)
        }
    }

    enum Progress: String, CaseIterable, AttributeValue { case open, waiting, done }

    struct Errand: BlankRecord {
        var name = ""
        var progress = Progress.open
        var former: Progress?
        var ref: Ref<Errand>?

        static let recordSchema = RecordSchema<Errand>("Errand") {
            RecordProperty("name", \.name, .identity)
            RecordProperty("progress", \.progress)
            RecordProperty("former", \.former)
        }
    }

    func divideErrands(_ graph: Graph) throws -> [[Errand]] {
        let open = try graph.fetch(Errand.self) { $0.progress == .open && $0.former != .done }
        let unfinished = try graph.fetch(Errand.self) { $0.progress.isIn([.open, .waiting]) }
        let same = try graph.fetch(RecordQuery<Errand>("progress in {\"open\", \"waiting\"}"))
        return [open, unfinished, same]
    }

    struct Basket: BlankRecord {
        var number = 0
        var lineCount = 0
        var total: Decimal = 0
        var dearest: Decimal?
        var lines: [BasketLine] = []
        var ref: Ref<Basket>?

        static let recordSchema = RecordSchema<Basket>("Basket") {
            RecordProperty("number", \.number, .identity)
            RecordProperty("lineCount", \.lineCount, .derived(.count("lines")))
            RecordProperty("total", \.total, .derived(.sum("lines.price")))
            RecordProperty("dearest", \.dearest, .derived(.max("lines.price")))
            RecordProperty("lines", \.lines, .inverse(\BasketLine.basket), .onDelete(.cascade))
        }
    }

    struct BasketLine: BlankRecord {
        var price: Decimal = 0
        var basket: Ref<Basket>?
        var ref: Ref<BasketLine>?

        static let recordSchema = RecordSchema<BasketLine>("BasketLine") {
            RecordProperty("price", \.price)
            RecordProperty("basket", \.basket)
        }
    }

    func fill(_ store: Store) throws -> Basket {
        var basket = Basket(number: 1, lines: [BasketLine(price: 2), BasketLine(price: 3)])
        try store.save(&basket)
        if let ref = basket.ref { basket = try store.graph.load(ref) }  // Before this line, basket.total is 0.
        return basket
    }

    struct Purchase: BlankRecord {
        var number = 0
        var product: Ref<Product>?
        var ref: Ref<Purchase>?

        static let recordSchema = RecordSchema<Purchase>("Purchase") {
            RecordProperty("number", \.number, .identity)
            RecordProperty("product", \.product, .minCount(1))
        }
    }

    actor TagForm {
        struct IsSaving: Error {}

        private let store: Store
        private var edit: Edit
        private var isSaving = false

        init(_ store: Store) { (self.store, edit) = (store, store.edit()) }

        func rename(_ tag: Ref<Tag>, to name: String) throws -> Tag {
            if isSaving { throw IsSaving() }
            var changed = try edit.load(tag)
            changed.name = name
            try edit.save(&changed)
            return changed
        }

        func undo() throws {
            if isSaving { throw IsSaving() }
            edit.undo()
        }

        func save(_ author: Author) async throws -> Receipt {
            if isSaving { throw IsSaving() }
            isSaving = true
            defer { isSaving = false }
            let policy = EditPolicy.byProperty { $0.concerns(\Tag.name) ? .mine : .theirs }
            let committed = try await store.commit(edit, policy: policy, author: author)
            edit = committed.edit
            return committed.receipt
        }
    }

    @Test func `the actor of the document about edits owns an edit while others write`() async throws {
        let store = try Store.inMemory(schema: Schema(of: Tag.self))
        var red = try Tag(named: "red", in: store)
        let form = TagForm(store)
        let tag = try #require(red.ref)
        #expect(try await form.rename(tag, to: "rose").name == "rose")
        #expect(try await form.rename(tag, to: "ruby").name == "ruby")
        try await form.undo()
        red.name = "scarlet"
        try store.save(&red)
        #expect(try await form.save(Author(actor: "jane")).hasChanges)
        #expect(try store.graph.load(tag).name == "rose")
        #expect(try await !form.save(Author(actor: "jane")).hasChanges)
    }

    @Test func `the code of the document about observation runs`() async throws {
        try await withFolder { folder in
            let store = try Store.open(at: "\(folder)/tags", creating: Schema(of: Tag.self))
            let start = store.graph.transaction
            _ = try Tag(named: "red", in: store)
            var names: [String] = []
            for try await committed in store.changes(from: start) {
                names += try show(committed)
                if committed.transaction >= store.graph.transaction { break }
            }
            #expect(names == ["red"])
            try store.close()
            try await watch(store)
        }
    }

    private func code(_ store: Store, _ json: Data) throws -> Data {
        let decoder = JSONDecoder()
        decoder.userInfo[.cambiumStore] = store
        let tags = try decoder.decode(ImportedRecords<Tag>.self, from: json).records
        let data = try JSONEncoder().encode(ExportedRecords(tags, in: store.graph))
        return data
    }

    private func recordHooks() -> (ImportHooks, ExportHooks) {
        let importHooks = ImportHooks(Tag.self) { transaction, tag, row in try transaction.set(tag.id, "name", to: "new") }
        let exportHooks = ExportHooks(Tag.self) { tag, row in tag.books.isEmpty ? .leaveOut : .write }
        return (importHooks, exportHooks)
    }

    @Test func `the code of the document about walks runs`() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Person") {
                    RelationshipDefinition("follows", to: "Person", .toMany)
                    RelationshipDefinition("dependencies", to: "Person", .toMany)
                }
            })
        let ids = try store.write { transaction in
            let ids = try (0..<3).map { _ in try transaction.insert("Person", [:]) }
            try transaction.link(ids[0], "follows", ids[1])
            try transaction.link(ids[2], "dependencies", ids[2])
            return ids
        }.result
        #expect(try walk(store.graph, from: ids[0], to: ids[1]) == 2)
    }

    @Test func `the code of the documents about imports and exports runs`() async throws {
        let store = try Store.inMemory(schema: schema)
        let person = try store.schema.required("Person")
        try await withFolder { folder in
            let path = "\(folder)/people.json"
            try #"{"personId":1,"name":{"full":"Ana"},"dob":0}"#.write(toFile: path, atomically: true, encoding: .utf8)
            #expect(try importPeople(store, person, path).counts.inserted == 1)
            let deleted = #"{"personId":3,"deleted":true}"#
            try deleted.write(toFile: path, atomically: true, encoding: .utf8)
            #expect(throws: CambiumError.self) { try importPeople(store, person, path) }
        }
        try await store.write { _ = try $0.insert("Person", ["personId": 2, "source": "hand"]) }
        let row = #"{"personId":1,"name":{"full":"Ana"},"born":"1970-01-01T00:00:00Z","source":"feed"}"# + "\n"
        #expect(String(decoding: try export(store, person), as: UTF8.self) == row)
    }

    @Test func `the code of the document about records runs`() throws {
        let store = try Store.inMemory(schema: Schema(of: Tag.self))
        try store.migrate(to: SchemaDefinition(of: Tag.self), Author(actor: "deploy"))
        let data = try code(store, Data(#"[{"name":"b"},{"name":"a","books":[{"title":"x"}]}]"#.utf8))
        #expect(String(decoding: data, as: UTF8.self).contains(#""_id":"Tag\/2""#))
        let hooks = recordHooks()
        let tags = try store.importRecords(Tag.self, from: [.bytes(Array(#"{"name":"c"}"#.utf8))], hooks: hooks.0).records
        #expect(tags.map(\.name) == ["new"])
        #expect(try JSONEncoder().encode(ExportedRecords(tags, in: store.graph, hooks: hooks.1)) == Data("[]".utf8))
    }

    @Test func `the code of the document about migration runs`() throws {
        let store = try Store.inMemory(schema: schema)
        try migrate(store, to: SchemaDefinition { EntityDefinition("Person") { AttributeDefinition("personId", .int64) } })
        #expect(try store.schema.required("Person").attributes.map(\.name) == ["personId"])
    }
}

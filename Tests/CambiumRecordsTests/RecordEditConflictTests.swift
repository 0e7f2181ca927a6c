import Cambium
import TestFixtures
import Testing

/// Records that are read and saved in an edit, while the edit or the store changes. `RandomRecordSaveTests` has the cases of a model.
@Suite struct RecordEditConflictTests {
    private let store: Store
    private let refs: [Ref<SavedItem>]

    init() throws {
        store = try Store.inMemory(schema: Schema(of: SavedItem.self))
        var items = (0..<3).map { SavedItem(key: $0) }
        try store.save(&items)
        refs = items.compactMap(\.ref)
    }

    private func code(_ body: () throws -> Void) -> CambiumError.Code? {
        do { try body() } catch { return (error as? CambiumError)?.code }
        return nil
    }

    private func item(_ edit: Edit) throws -> SavedItem { try edit.load(refs[0]) }

    @Test func `a commit that merges another writer's change does not become the base of a record`() throws {
        var edit = store.edit()
        var record = try item(edit)
        record.a = 1
        try edit.save(&record)
        try store.write { try $0.set(refs[0].id, "b", to: 5) }
        let committed = try store.commit(&edit)
        record.ref = committed.ref(of: try #require(record.ref))
        record.a = 2
        try store.save(&record)
        #expect(try store.graph.load(refs[0]).b == 5)
        record.b = 7
        #expect(code { try store.save(&record) } == .conflict)
    }

    @Test func `an undone save is a conflict, and not repeated in silence`() throws {
        var edit = store.edit()
        var record = try item(edit)
        record.a = 1
        try edit.save(&record)
        edit.undo()
        record.b = 1
        #expect(code { try edit.save(&record) } == .conflict)
        var (copy, other) = (edit, record)
        try copy.save(&other, policy: .theirs)
        #expect(try item(copy).values(refs) == [[0], [1], [], []])
        try edit.save(&record, policy: .mine)
        #expect(try item(edit).values(refs) == [[1], [1], [], []])
    }

    @Test func `members with provisional ids are those of the committed objects`() throws {
        var edit = store.edit()
        var (record, new) = (try item(edit), SavedItem(key: 9))
        try edit.save(&new)
        record.list = [try #require(new.ref), refs[1]]
        try edit.save(&record)
        let committed = try store.commit(&edit)
        try store.write { try $0.set(refs[0].id, "b", to: 5) }
        record.ref = committed.ref(of: try #require(record.ref))
        record.list[0] = committed.ref(of: record.list[0])
        #expect(try !store.save(&record).hasChanges)
        try store.write { try $0.unlink(refs[0].id, "list", refs[1].id) }
        record.list.reverse()
        #expect(code { try store.save(&record) } == .conflict)
    }

    @Test func `records of a preview keep what the edit has changed since`() throws {
        var edit = store.edit()
        try edit.set(refs[0].id, "b", to: 1)
        var record = try #require(try store.preview(edit) { try $0.fetch(RecordQuery<SavedItem> { $0.key == 0 }) }.first)
        try edit.set(refs[0].id, "b", to: 2)
        record.a = 1
        try edit.save(&record)
        #expect(try item(edit).values(refs) == [[1], [2], [], []])
    }
}

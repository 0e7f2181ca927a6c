import Cambium
import CambiumTesting
import Glibc
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

/// Records that are read and saved in an edit, while the edit or the store changes.
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

    @Test func `a save in an edit keeps later changes of the edit to other properties`() throws {
        var edit = store.edit()
        var (first, second) = (try item(edit), try item(edit))
        (first.a, second.b) = (1, 1)
        second.list = [refs[1]]
        try edit.save(&first)
        try edit.save(&second)
        try edit.link(refs[0].id, "link", refs[2].id)
        first.b = 2
        #expect(code { try edit.save(&first) } == .conflict)
        first.b = 0
        first.list = [refs[2]]
        #expect(code { try edit.save(&first) } == .conflict)
        first.list = []
        try edit.save(&first)
        #expect(try item(edit).values(refs) == [[1], [1], [2], [1]])
    }

    @Test(arguments: [(EditPolicy.error, 1), (.mine, 2), (.theirs, 1)])
    func `a value that the edit has changed since the record was read is a conflict`(policy: EditPolicy, value: Int) throws {
        var edit = store.edit()
        var record = try item(edit)
        try edit.set(refs[0].id, "a", to: 1)
        record.a = 2
        let isError = if case .error = policy { true } else { false }
        #expect(code { try edit.save(&record, policy: policy) } == (isError ? .conflict : nil))
        #expect(try item(edit).a == value)
    }

    @Test func `a record of a graph is compared with the changes of the edit, too`() throws {
        var edit = store.edit()
        var record = try store.graph.load(refs[0])
        try edit.set(refs[0].id, "a", to: 1)
        record.b = 1
        try edit.save(&record)
        #expect(try item(edit).values(refs) == [[1], [1], [], []])
        record.a = 2
        #expect(code { try edit.save(&record) } == .conflict)
    }

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

    @Test func `a save in a discarded edit is not taken for a change of the store`() throws {
        var edit = store.edit()
        var record = try item(edit)
        record.a = 1
        try edit.save(&record)
        try store.save(&record)
        #expect(try store.graph.load(refs[0]).a == 1)
        var other = store.edit()
        record.a = 2
        try other.save(&record)
        try store.write { try $0.set(refs[0].id, "a", to: 3) }
        #expect(code { try store.save(&record) } == .conflict)
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

    @Test(arguments: [0, 1]) func `a commit that the disk refuses leaves the base of a record`(offset: Int) throws {
        let volume = FaultyVolume()
        var store = try Store.create(volume, schema: Schema(of: SavedItem.self), durability: .synced, environment: fixedEnvironment())
        var item = SavedItem(key: 0)
        try store.save(&item)
        item.a = 1
        volume.fail(at: volume.operationCount + offset, with: offset == 0 ? ENOSPC : EIO)
        let failure = code { try store.write { try $0.save(&item) } }
        #expect(failure == (offset == 0 ? .ioFailure : .outcomeUnknown))
        if offset == 1 {
            store.abandon()
            store = try Store.open(MemoryVolume(contents: volume.image(seed: 3)), durability: nil, environment: fixedEnvironment(seed: 2))
            #expect(try store.graph.find(SavedItem.self, identity: 0)?.a == 0)
        }
        try store.write { try $0.set(try #require(item.ref).id, "b", to: 5) }
        try store.save(&item)
        let saved = try #require(try store.graph.find(SavedItem.self, identity: 0))
        #expect(saved.a == 1 && saved.b == 5)
    }
}

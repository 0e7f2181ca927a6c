import Cambium
import CambiumGraph
import CambiumModel
import CambiumTesting
import Glibc
import TestFixtures

@testable import CambiumStore

/// A record with two attributes, a to-one relationship and an ordered one.
struct SavedItem: BlankRecord {
    var key = 0
    var a = 0
    var b = 0
    var link: Ref<SavedItem>?
    var list: [Ref<SavedItem>] = []
    var ref: Ref<SavedItem>?

    static let recordSchema = RecordSchema<SavedItem>("Item") {
        RecordProperty("key", \.key, .identity)
        RecordProperty("a", \.a)
        RecordProperty("b", \.b)
        RecordProperty("link", \.link)
        RecordProperty("list", \.list)
    }

    /// The values of all properties but the key. A ref is the key of its object.
    func values(_ refs: [Ref<SavedItem>]) -> RecordSaveModel.Values {
        let numbers = Dictionary(refs.enumerated().map { ($1, $0) }) { first, _ in first }
        return [[a], [b], link.flatMap { numbers[$0] }.map { [$0] } ?? [], list.compactMap { numbers[$0] }]
    }

    mutating func set(_ property: Int, _ value: [Int], _ refs: [Ref<SavedItem>]) {
        switch property {
        case 0: a = value[0]
        case 1: b = value[0]
        case 2: link = value.first.map { refs[$0] }
        default: list = value.map { refs[$0] }
        }
    }
}

/// Random programs that read, change and save records in a store and in an edit, beside another writer, rollbacks and failures of the disk.
/// After each step, the values of the store and of the edit are compared with a model.
struct RecordSaveRun {
    struct Stop: Error {}

    private var random: SplitMix64
    private var volume = FaultyVolume()
    private var store: Store
    private var edit: Edit
    private let refs: [Ref<SavedItem>]
    private var model: RecordSaveModel
    private var records: [(record: SavedItem, handle: RecordSaveModel.Handle)] = []
    private(set) var counts = (saves: 0, conflicts: 0, failures: 0, commits: 0)

    private static let names = ["a", "b", "link", "list"]

    init(seed: UInt64) throws {
        random = SplitMix64(seed: seed)
        store = try Store.create(
            volume, schema: Schema(of: SavedItem.self), durability: .synced, environment: fixedEnvironment(seed: seed), tuning: .tiny)
        var items = (0..<3).map { SavedItem(key: $0) }
        try store.save(&items)
        refs = items.compactMap(\.ref)
        edit = store.edit()
        model = RecordSaveModel(items.map { [refs] in $0.values(refs) })
    }

    mutating func run(_ count: Int) throws {
        for number in 0..<count {
            let kind = Int.random(in: 0..<16, using: &random)
            do {
                try step(kind)
                try check()
            } catch { throw Finding("step \(number) of kind \(kind): \(error)") }
        }
    }

    private mutating func step(_ kind: Int) throws {
        if records.count > 5 { records.remove(at: Int.random(in: 0..<records.count, using: &random)) }
        switch kind {
        case 0, 1: try read(from: .store)
        case 2, 3: try read(from: .edit)
        case 4: try changeStore()
        case 5:
            var edited = edit
            try changeEdit(&edited, isModelled: true)
            edit = edited
        case 6: if edit.undo() { model.undo() }
        case 7: try commit()
        case 8: try saveInCopy()
        case 9, 10, 11: try saveInEdit()
        case 12: try write(.failingWrite)
        case 13: try write(.rollback)
        case 14: try write(random.isTrue(1, outOf: 3) ? .failingSync : .commit)
        default: try write(.commit)
        }
    }

    private func check() throws {
        let found = try refs.map { try store.graph.load($0).values(refs) }
        if found != model.store { throw Finding("the store has \(found) instead of \(model.store)") }
        let edited = try refs.map { try edit.load($0).values(refs) }
        if edited != model.edited { throw Finding("the edit has \(edited) instead of \(model.edited)") }
    }

    // MARK: Reading and changing

    private mutating func item() -> Int { Int.random(in: refs.indices, using: &random) }

    private mutating func value(_ property: Int) -> [Int] {
        switch property {
        case 0, 1: [Int.random(in: 0..<3, using: &random)]
        case 2: random.isTrue(1, outOf: 3) ? [] : [item()]
        default: Array(refs.indices.shuffled(using: &random).prefix(Int.random(in: 0..<3, using: &random)))
        }
    }

    private mutating func read(from target: RecordSaveModel.Target) throws {
        let item = item()
        let record = try target == .store ? store.graph.load(refs[item]) : edit.load(refs[item])
        var handle = RecordSaveModel.Handle(item: item, base: record.values(refs))
        if target == .edit { handle.edit = (model.base[item], model.lineage) }
        records.append((record, handle))
    }

    /// Chooses a record, and usually changes some of its properties.
    private mutating func changed() -> Int? {
        guard let index = records.indices.randomElement(using: &random) else { return nil }
        for property in 0..<4 where random.isTrue(1, outOf: 3) { records[index].record.set(property, value(property), refs) }
        return index
    }

    private mutating func changeEdit(_ edit: inout Edit, isModelled: Bool) throws {
        let (item, property) = (item(), Int.random(in: 0..<4, using: &random))
        let (id, name, value) = (refs[item].id, Self.names[property], value(property))
        if try edit.load(refs[item]).values(refs)[property] == value { return }
        try edit.group { edit in
            if property < 2 { return try edit.set(id, name, to: .int(Int64(value[0]))) }
            for member in try edit.members(name, of: id) { try edit.unlink(id, name, member) }
            for member in value { try edit.link(id, name, refs[member].id) }
        }
        if isModelled { model.change(item, [property: value]) } else { model.store[item][property] = value }
    }

    private mutating func changeStore() throws {
        var other = store.edit()
        try changeEdit(&other, isModelled: false)
        try store.commit(&other)
    }

    // MARK: Edits

    private mutating func saveInEdit() throws {
        guard let index = changed() else { return }
        var edited = edit
        let outcome = try saved(index, model.edited, to: .edit) { try edited.save(&$0) }
        edit = edited
        if let outcome { model.change(outcome.handle.item, outcome.changes) }
    }

    /// Saves a record in a copy of the edit that is discarded.
    private mutating func saveInCopy() throws {
        guard let index = changed() else { return }
        var copy = edit
        _ = try saved(index, model.edited, to: .edit) { try copy.save(&$0) }
    }

    private mutating func commit() throws {
        let isRefused = model.hasConflicts
        let committed: EditCommit
        do { committed = try store.commit(&edit) } catch let error as CambiumError where error.code == .conflict {
            if !isRefused { throw Finding("a commit without conflicts threw \(error)") }
            edit = store.edit()
            return model.restart()
        }
        if isRefused { throw Finding("a commit ignored a conflict") }
        for index in records.indices where random.isTrue(3, outOf: 4) {
            guard let ref = records[index].record.ref, records[index].handle.edit?.lineage == model.lineage else { continue }
            records[index].record.ref = committed.ref(of: ref)
            (records[index].handle.edit, records[index].handle.former) = (nil, [:])
        }
        model.commit()
        counts.commits += 1
    }

    // MARK: Transactions

    private enum Ending { case commit, rollback, failingWrite, failingSync }

    /// Saves, reads and changes objects in a transaction, which may fail after that.
    private mutating func write(_ ending: Ending) throws {
        let before = model.store
        var (after, isRefused, done) = (before, false, [Int]())
        switch ending {
        case .commit, .rollback: break
        case .failingWrite: volume.fail(at: volume.operationCount, with: ENOSPC)
        case .failingSync: volume.fail(at: volume.operationCount + 1, with: EIO)
        }
        var failure: CambiumError?
        do {
            try store.write { transaction in
                for _ in 0..<Int.random(in: 1..<6, using: &random) {
                    if random.isTrue(1, outOf: 3) {
                        try change(&transaction, &after)
                        continue
                    }
                    if random.isTrue(1, outOf: 4) {
                        done.append(try read(from: &transaction, after))
                        continue
                    }
                    guard let index = changed() else { continue }
                    let outcome = try saved(index, after, to: .store) { try transaction.save(&$0) }
                    for (property, value) in outcome?.changes ?? [:] { after[records[index].handle.item][property] = value }
                    isRefused = outcome == nil
                    if isRefused { throw Stop() }
                    done.append(index)
                }
                if ending == .rollback { throw Stop() }
            }
        } catch is Stop { after = before } catch let error as CambiumError { failure = error }
        volume.fail(at: .max, with: EIO)  // A transaction without changes has not reached the fault.
        // The fault may have reached a write after the transaction. Then the store accepts no more transactions.
        let isOpen = (try? store.label("probe", existing: .move)) != nil
        if isRefused || ending == .rollback || failure != nil { rollBack(done, before) }
        if failure == nil { model.store = after } else { counts.failures += 1 }
        if !isOpen { try reopen(before, after) }
    }

    /// Changes a property in a transaction, without a record.
    private mutating func change(_ transaction: inout WriteTransaction, _ values: inout [RecordSaveModel.Values]) throws {
        let (item, property) = (item(), Int.random(in: 0..<4, using: &random))
        let (id, name, value) = (refs[item].id, Self.names[property], value(property))
        values[item][property] = value
        if property < 2 { return try transaction.set(id, name, to: .int(Int64(value[0]))) }
        for member in try transaction.members(name, of: id) where property == 2 || !value.contains(where: { refs[$0].id == member }) {
            try transaction.unlink(id, name, member)
        }
        for (index, member) in value.enumerated() { try transaction.link(id, name, refs[member].id, at: property == 3 ? index : nil) }
    }

    /// Reads a record in a transaction, and returns its index.
    private mutating func read(from transaction: inout WriteTransaction, _ values: [RecordSaveModel.Values]) throws -> Int {
        let item = item()
        let record = try transaction.load(refs[item])
        if record.values(refs) != values[item] { throw Finding("the transaction has \(record.values(refs)) instead of \(values[item])") }
        records.append((record, RecordSaveModel.Handle(item: item, base: values[item])))
        return records.count - 1
    }

    /// The records of a transaction that was undone are compared with the store before it.
    private mutating func rollBack(_ indices: [Int], _ store: [RecordSaveModel.Values]) {
        for index in indices {
            let handle = records[index].handle
            for property in 0..<4 where !handle.kept.contains(property) {
                records[index].handle.base[property] = store[handle.item][property]
            }
        }
    }

    private mutating func reopen(_ before: [RecordSaveModel.Values], _ after: [RecordSaveModel.Values]) throws {
        store.abandon()
        volume = FaultyVolume(contents: volume.image(seed: random.next()))
        store = try Store.open(volume, durability: .synced, environment: fixedEnvironment(seed: random.next()), tuning: .tiny)
        let found = try refs.map { try store.graph.load($0).values(refs) }
        guard found == before || found == after else { throw Finding("the opened store has \(found)") }
        model.store = found
        model.restart()
        edit = store.edit()
    }

    // MARK: Saves

    /// Saves a record, and compares the outcome with the model. Returns `nil` after a conflict.
    private mutating func saved(
        _ index: Int, _ current: [RecordSaveModel.Values], to target: RecordSaveModel.Target, _ save: (inout SavedItem) throws -> Void
    ) throws -> (changes: [Int: [Int]], handle: RecordSaveModel.Handle)? {
        let (handle, mine) = (records[index].handle, records[index].record.values(refs))
        let expected = model.save(handle, mine, current[handle.item], to: target)
        counts.saves += 1
        do { try save(&records[index].record) } catch let error as CambiumError where error.code == .conflict {
            if expected != nil { throw Finding("a save of \(mine) over \(current[handle.item]) with \(handle) threw \(error)") }
            counts.conflicts += 1
            return nil
        }
        guard let expected else { throw Finding("a save of \(mine) over \(current[handle.item]) with \(handle) ignored a conflict") }
        if records[index].record.values(refs) != mine { throw Finding("a save changed the record") }
        records[index].handle = expected.handle
        return expected
    }
}

import Cambium
import TestFixtures
import Testing

/// A worker whose relationships are listed on both sides.
private struct Worker: BlankRecord {
    var name = ""
    var boss: Ref<Worker>?
    var team: Set<Ref<Worker>> = []
    var mentor: Ref<Worker>?
    var pupils: [Ref<Worker>] = []
    var ref: Ref<Worker>?

    static let recordSchema = RecordSchema<Worker>("Worker") {
        RecordProperty("name", \.name)
        RecordProperty("boss", \.boss, .inverse("team"))
        RecordProperty("team", \.team)
        RecordProperty("mentor", \.mentor, .inverse("pupils"))
        RecordProperty("pupils", \.pupils)
    }
}

/// A record without relationships.
private struct Label: BlankRecord {
    var code = 0
    var name = ""
    var color = ""
    var ref: Ref<Label>?

    static let recordSchema = RecordSchema<Label>("Label") {
        RecordProperty("code", \.code, .identity)
        RecordProperty("name", \.name)
        RecordProperty("color", \.color)
    }
}

@Suite("Several copies of a record in one save")
struct RecordCopyTests {
    /// Saves three people: Anna is a friend of both others.
    private func people() throws -> Store {
        let store = try Library.store()
        var people = [Person("Anna"), Person("Ben"), Person("Cleo")]
        try store.save(&people)
        let ids = people.compactMap { $0.ref?.id }
        try store.write { transaction in
            try transaction.link(ids[1], "friends", ids[0])
            try transaction.link(ids[2], "friends", ids[0])
        }
        return store
    }

    private func save<Record: EntityRecord>(_ records: inout [Record], to store: Store, inEdit: Bool) throws {
        guard inEdit else {
            try store.save(&records)
            return
        }
        var edit = store.edit()
        try edit.save(&records)
        try store.commit(&edit)
    }

    @Test("an unchanged copy does not undo the changes of another copy", arguments: [false, true])
    func unchangedCopies(inEdit: Bool) throws {
        let store = try people()
        var people = try store.graph.fetch(Person.self)
        people[0].name = "Anne"
        people[0].friends = [Person("Dora")]
        try save(&people, to: store, inEdit: inEdit)
        let saved = try store.graph.fetch(Person.self)
        #expect(saved.map(\.name) == ["Anne", "Ben", "Cleo", "Dora"])
        #expect(saved[0].friends.map(\.name) == ["Dora"])
        #expect(saved[1].friends.map(\.name) == ["Anne"])
    }

    @Test("an unchanged copy of a record without relationships does not undo a change", arguments: [false, true])
    func flatCopies(hasRef: Bool) throws {
        let store = try Store.inMemory(schema: Schema(of: Label.self))
        var label = Label(code: 1, name: "a", color: "red")
        try store.save(&label)
        var labels = [label, label, label]
        labels[0].name = "b"
        // Without a ref, the save finds the object by its identity.
        if !hasRef { labels[0].ref = nil }
        labels[1].color = "blue"
        try store.save(&labels)
        label = try #require(try store.graph.find(Label.self, identity: 1))
        #expect(label.name == "b" && label.color == "blue")
    }

    @Test("the change of a later copy is saved, and the last of two changes wins")
    func changedCopies() throws {
        let store = try Companies.store()
        var shop = Companies.Shop("Carpets", owner: Companies.Employee("Carl", age: 40))
        try store.save(&shop)
        let (id, owner) = (try #require(shop.ref?.id), try #require(shop.owner?.ref?.id))
        try store.write { try $0.link(id, "employees", owner) }
        shop = try store.graph.load(Companies.Shop.self, id)
        shop.owner?.name = "Charles"
        shop.employees[0].age = 41
        try store.save(&shop)
        shop = try store.graph.load(Companies.Shop.self, id)
        #expect(shop.employees.map(\.name) == ["Charles"])
        #expect(shop.employees.map(\.age) == [41])
        shop.owner?.name = "first"
        shop.employees[0].name = "second"
        try store.save(&shop)
        #expect(try store.graph.fetch(Companies.Employee.self).map(\.name) == ["second"])
    }

    @Test("an unchanged record does not undo a change from the other side of a relationship", arguments: [false, true])
    func otherSides(inEdit: Bool) throws {
        let store = try Store.inMemory(schema: Schema(of: Worker.self))
        var workers = ["Anna", "Ben", "Cleo"].map { Worker(name: $0) }
        try store.save(&workers)
        let refs = workers.compactMap { $0.ref }
        for index in 0..<2 { (workers[index].boss, workers[index].mentor) = (refs[2], refs[2]) }
        try save(&workers, to: store, inEdit: inEdit)
        workers = try store.graph.fetch(Worker.self)
        #expect(workers[2].team == Set(refs.prefix(2)))
        #expect(workers[2].pupils == [refs[0], refs[1]])
        (workers[0].boss, workers[0].mentor) = (refs[1], nil)
        try save(&workers, to: store, inEdit: inEdit)
        workers = try store.graph.fetch(Worker.self)
        #expect(workers[0].boss == refs[1])
        #expect(workers[1].team == [refs[0]])
        #expect(workers[2].team == [refs[1]])
        #expect(workers[2].pupils == [refs[1]])
    }
}

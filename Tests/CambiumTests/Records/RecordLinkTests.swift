import Cambium
import Testing

/// An employee that can be linked to itself by refs.
private struct Employee: EntityRecord {
    var name: String
    var manager: Ref<Employee>?
    var peers: Set<Ref<Employee>> = []
    var deputies: [Ref<Employee>] = []
    var guests = ToMany<Employee>()
    var ref: Ref<Employee>?

    static let recordSchema = RecordSchema<Employee>("Employee") {
        RecordProperty("name", \.name)
        RecordProperty("manager", \.manager)
        RecordProperty("peers", \.peers)
        RecordProperty("deputies", \.deputies)
        RecordProperty("guests", \.guests)
    }

    init(_ name: String) { self.name = name }

    init(from row: inout RecordReader) throws {
        name = try row.read(0)
        manager = try row.read(1)
        peers = try row.read(2)
        deputies = try row.read(3)
        guests = try row.read(4)
        ref = row.ref()
    }

    mutating func write(to row: inout RecordWriter) throws {
        try row.write(0, &name)
        try row.write(1, &manager)
        try row.write(2, &peers)
        try row.write(3, &deputies)
        try row.write(4, &guests)
    }
}

@Suite("Links of saved records")
struct RecordLinkTests {
    @Test("refs to the object itself are removed like any other")
    func ownRefs() throws {
        let store = try Store.inMemory(schema: Schema(of: Employee.self))
        var ada = Employee("Ada")
        try store.save(&ada)
        let ref = try #require(ada.ref)
        (ada.manager, ada.peers, ada.deputies, ada.guests) = (ref, [ref], [ref], [ref])
        try store.save(&ada)
        let linked = try store.graph.load(ref)
        #expect(linked.manager == ref)
        #expect(Array(linked.peers) == [ref])
        #expect(linked.deputies == [ref])
        #expect(Array(linked.guests) == [ref])
        (ada.manager, ada.peers, ada.deputies, ada.guests) = (nil, [], [], [])
        try store.save(&ada)
        let read = try store.graph.load(ref)
        #expect(read.manager == nil)
        #expect(read.peers.isEmpty)
        #expect(read.deputies.isEmpty)
        #expect(read.guests.isEmpty)
    }

    @Test("the members of another record can be assigned")
    func assignedMembers() throws {
        let store = try Library.store()
        var book = Book("Emma", tags: [Tag("novel")])
        try store.save(&book)
        var classic = Tag("classic")
        classic.books = try #require(try store.graph.find(Tag.self, identity: "novel")).books
        try store.save(&classic)
        try store.write { transaction in
            var modern = Tag("modern")
            modern.books = try #require(try transaction.find(Tag.self, identity: "classic")).books
            try transaction.save(&modern)
        }
        var (edit, old) = (store.edit(), Tag("old"))
        old.books = try #require(try edit.find(Tag.self, identity: "modern")).books
        try edit.save(&old)
        try store.commit(&edit)
        let tags = try store.fetch(Tag.self)
        #expect(tags.map(\.name) == ["novel", "classic", "modern", "old"])
        #expect(try tags.map { try $0.books.load().map(\.title) } == [["Emma"], ["Emma"], ["Emma"], ["Emma"]])
    }

    @Test("a record that was read inside of another record keeps its links to it, even if it is saved alone")
    func savedAlone() throws {
        let store = try Library.store()
        var people = [Person("Anna"), Person("Ben")]
        try store.save(&people)
        let (anna, ben) = (try #require(people[0].ref), try #require(people[1].ref))
        try store.write { transaction in
            try transaction.link(anna.id, "friends", ben.id)
            try transaction.link(ben.id, "friends", anna.id)
        }
        func check(_ name: String) throws {
            let read = try store.graph.load(ben)
            #expect(read.name == name)
            #expect(read.friends.map(\.name) == ["Anna"])
        }
        var inner = try store.graph.load(anna).friends[0]
        #expect(inner.friends.isEmpty)
        inner.name = "one"
        try store.save(&inner)
        try check("one")
        try store.write { transaction in
            var inner = try transaction.load(anna).friends[0]
            inner.name = "two"
            try transaction.save(&inner)
            try transaction.save(&inner)
        }
        try check("two")
        var edit = store.edit()
        inner = try edit.load(anna).friends[0]
        inner.name = "three"
        try edit.save(&inner)
        try store.commit(&edit)
        try check("three")
    }

    @Test("an employee that was read inside of a shop keeps the shop, even if the employee is saved alone")
    func savedAloneToOne() throws {
        let store = try Companies.store()
        var shop = Companies.Shop("Carpets", employees: [Companies.Employee("John")])
        try store.save(&shop)
        var john = try #require(try store.fetch(Companies.EmployeeShop.self).first?.employees.first)
        #expect(john.shop == nil)
        john.name = "Johnny"
        try store.save(&john)
        #expect(try store.fetch(Companies.Shop.self).first?.employees.map(\.name) == ["Johnny"])
        #expect(try store.fetch(Companies.ShopEmployee.self).first?.shop?.name == "Carpets")
    }

    @Test("the members of an object that an edit inserted can be assigned to another object of the edit")
    func assignedInEdit() throws {
        let store = try Library.store()
        var (book, classic) = (Book("Emma"), Tag("classic"))
        try store.save(&book)
        try store.save(&classic)
        var (edit, draft) = (store.edit(), Tag("draft"))
        draft.books = [try #require(book.ref)]
        try edit.save(&draft)
        draft = try #require(try edit.find(Tag.self, identity: "draft"))
        classic.books = draft.books
        try edit.delete(&draft)
        try edit.save(&classic)
        try store.commit(&edit)
        #expect(try store.graph.find(Tag.self, identity: "classic")?.books.load().map(\.title) == ["Emma"])
    }

    @Test("a record whose insertion was rolled back is inserted with the members that it had")
    func membersAfterRollback() throws {
        struct Stop: Error {}
        let store = try Library.store()
        var book = Book("Emma")
        try store.save(&book)
        let ref = try #require(book.ref)
        var kept: Tag?
        #expect(throws: Stop.self) {
            try store.write { transaction in
                let id = try transaction.insert("Tag", ["name": "novel"], links: ["books": [ref.id]])
                kept = try transaction.load(Tag.self, id)
                throw Stop()
            }
        }
        var novel = try #require(kept)
        try store.save(&novel)
        #expect(try store.graph.find(Tag.self, identity: "novel")?.books.load().map(\.title) == ["Emma"])
    }

    @Test("an object that was omitted from a record because it contains the record keeps its place")
    func omittedPlace() throws {
        let store = try Library.store()
        var people = [Person("Anna"), Person("Ben"), Person("Cleo")]
        try store.save(&people)
        people[1].friends = [people[0], people[2]]
        try store.save(&people[1])
        people[0].friends = [people[1]]
        try store.save(&people[0])
        var anna = try store.graph.load(try #require(people[0].ref))
        #expect(anna.friends.first?.friends.map(\.name) == ["Cleo"])
        let receipt = try store.save(&anna)
        #expect(!receipt.hasChanges)
        anna.friends[0].friends.append(Person("Dora"))
        try store.save(&anna)
        let ben = try store.graph.load(try #require(people[1].ref))
        #expect(ben.friends.map(\.name) == ["Anna", "Cleo", "Dora"])
    }
}

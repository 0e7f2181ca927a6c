import Cambium
import Testing

/// An employee that can be linked to itself by refs.
private struct Employee: BlankRecord {
    var name = ""
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
}

/// An office whose desks contain the office.
private struct Office: BlankRecord {
    var name = ""
    var desks: [Desk] = []
    var plants: [Plant] = []
    var lamps: [Lamp] = []
    var ref: Ref<Office>?

    static let recordSchema = RecordSchema<Office>("Office") {
        RecordProperty("name", \.name)
        RecordProperty("desks", \.desks, .inverse("office"))
        RecordProperty("plants", \.plants, .inverse("offices"))
        RecordProperty("lamps", \.lamps, .inverse("offices"))
    }
}

private struct Desk: BlankRecord {
    var name = ""
    var office: Office?
    var ref: Ref<Desk>?

    static let recordSchema = RecordSchema<Desk>("Desk") {
        RecordProperty("name", \.name)
        RecordProperty("office", \.office)
    }
}

private struct Plant: BlankRecord {
    var name = ""
    var offices: [Ref<Office>] = []
    var ref: Ref<Plant>?

    static let recordSchema = RecordSchema<Plant>("Plant") {
        RecordProperty("name", \.name)
        RecordProperty("offices", \.offices)
    }
}

private struct Lamp: BlankRecord {
    var name = ""
    var offices: Set<Ref<Office>> = []
    var ref: Ref<Lamp>?

    static let recordSchema = RecordSchema<Lamp>("Lamp") {
        RecordProperty("name", \.name)
        RecordProperty("offices", \.offices)
    }
}

@Suite("Links of saved records")
struct RecordLinkTests {
    @Test("refs to the object itself are removed like any other")
    func ownRefs() throws {
        let store = try Store.inMemory(schema: Schema(of: Employee.self))
        var ada = Employee(name: "Ada")
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
        let tags = try store.graph.fetch(Tag.self)
        #expect(tags.map(\.name) == ["novel", "classic", "modern", "old"])
        #expect(try tags.map { try $0.books.load().map(\.title) } == [["Emma"], ["Emma"], ["Emma"], ["Emma"]])
    }

    @Test("a member can be added to the members that were read")
    func addedMember() throws {
        let store = try Library.store()
        var (emma, sanditon) = (Book("Emma", tags: [Tag("novel")]), Book("Sanditon"))
        try store.save(&emma)
        try store.save(&sanditon)
        let ref = try #require(sanditon.ref)
        var novel = try #require(try store.graph.find(Tag.self, identity: "novel"))
        novel.books = ToMany(novel.books + [ref])
        try store.save(&novel)
        #expect(try store.graph.find(Tag.self, identity: "novel")?.books.load().map(\.title) == ["Emma", "Sanditon"])
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
        var carl = Person("Carl", friends: [try store.graph.load(anna).friends[0]])
        try store.save(&carl)
        carl.friends[0].name = "four"
        try store.save(&carl.friends[0])
        try check("four")
    }

    @Test("a record that was saved inside of a new record of an edit keeps its link to it, even if it is saved alone after the commit")
    func savedAloneAfterCommit() throws {
        let store = try Library.store()
        var ben = Person("Ben")
        try store.save(&ben)
        var (edit, carl) = (store.edit(), Person("Carl", friends: [ben]))
        try edit.save(&carl)
        try edit.link(try #require(ben.ref).id, "friends", try #require(carl.ref).id)
        let committed = try store.commit(&edit)
        var inner = carl.friends[0]
        inner.ref = committed.ref(of: try #require(inner.ref))
        inner.name = "Benn"
        try store.save(&inner)
        let read = try store.graph.load(try #require(ben.ref))
        #expect(read.name == "Benn")
        #expect(read.friends.map(\.name) == ["Carl"])
    }

    @Test("an employee that was read inside of a shop keeps the shop, even if the employee is saved alone")
    func savedAloneToOne() throws {
        let store = try Companies.store()
        var shop = Companies.Shop("Carpets", employees: [Companies.Employee("John")])
        try store.save(&shop)
        var john = try #require(try store.graph.fetch(Companies.EmployeeShop.self).first?.employees.first)
        #expect(john.shop == nil)
        john.name = "Johnny"
        try store.save(&john)
        #expect(try store.graph.fetch(Companies.Shop.self).first?.employees.map(\.name) == ["Johnny"])
        #expect(try store.graph.fetch(Companies.ShopEmployee.self).first?.shop?.name == "Carpets")
    }

    @Test("a new record inside of another record keeps its link to it, even if it is saved alone later")
    func newSavedAlone() throws {
        let store = try Store.inMemory(schema: Schema(of: Office.self))
        var paris = Office(name: "Paris", desks: [Desk(name: "one"), Desk(name: "two")])
        try store.save(&paris)
        paris.desks[0].name = "three"
        try store.save(&paris.desks[0])
        #expect(try store.graph.fetch(Office.self).first?.desks.map(\.name) == ["three", "two"])
    }

    @Test("a record that was moved into another record does not go back to the former one if it is saved alone later")
    func movedAndSavedAlone() throws {
        let store = try Store.inMemory(schema: Schema(of: Office.self))
        var offices = [Office(name: "London", desks: [Desk(name: "one")]), Office(name: "Paris", desks: [])]
        try store.save(&offices)
        let desk = try #require(try store.graph.fetch(Desk.self).first)
        #expect(desk.office?.name == "London")
        offices[1].desks = [desk]
        try store.save(&offices[1])
        #expect(offices[1].desks[0].office?.name == nil)
        offices[1].desks[0].name = "two"
        try store.save(&offices[1].desks[0])
        #expect(try store.graph.fetch(Office.self).map { $0.desks.map(\.name) } == [[], ["two"]])
    }

    @Test("a save adds the containing record to the refs of an inner record")
    func refsBack() throws {
        let store = try Store.inMemory(schema: Schema(of: Office.self))
        var paris = Office(name: "Paris", desks: [], plants: [Plant(name: "Fern")], lamps: [Lamp(name: "Bulb")])
        try store.save(&paris)
        let ref = try #require(paris.ref)
        #expect(paris.plants[0].offices == [ref])
        #expect(paris.lamps[0].offices == [ref])
        let receipt = try store.save(&paris)
        #expect(!receipt.hasChanges)
        #expect(paris.plants[0].offices == [ref])
        (paris.plants[0].name, paris.lamps[0].name) = ("Palm", "Spot")
        try store.save(&paris.plants[0])
        try store.save(&paris.lamps[0])
        let read = try store.graph.load(ref)
        #expect(read.plants.map(\.name) == ["Palm"])
        #expect(read.lamps.map(\.name) == ["Spot"])
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

import Cambium
import FoundationEssentials
import TestFixtures
import Testing

private struct Price: BlankRecord {
    var amount: Decimal?
    var ref: Ref<Price>?

    static let recordSchema = RecordSchema<Price>("Price") { RecordProperty("amount", \.amount) }
}

@Suite("Saving records")
struct RecordSaveTests {
    private let store: Store

    init() throws { store = try Library.store() }

    private func writer() -> Writer {
        var first = Book("Emma", price: 9.5, tags: [Tag("novel")])
        first.printing = Printing(year: 1815, copies: [2000, 1])
        return Writer(id: 1, name: "Jane", born: Date(timeIntervalSinceReferenceDate: -7e9), books: [first, Book("Persuasion")])
    }

    @Test("a saved record reads back equal")
    func readsBack() throws {
        var jane = writer()
        try store.save(&jane)
        let read = try #require(try store.graph.find(Writer.self, identity: 1))
        var expected = jane
        for index in expected.books.indices {
            #expect(expected.books[index].tags.map(\.name) == read.books[index].tags.map(\.name))
            expected.books[index].tags = read.books[index].tags
        }
        #expect(read == expected)
        #expect(read.books.map(\.title) == ["Emma", "Persuasion"])
        #expect(read.books.first?.printing?.copies == [2000, 1])
        #expect(read.books.first?.writer?.id == jane.ref?.id)
    }

    @Test("a record without a ref changes the object of its identity")
    func upsert() throws {
        var jane = writer()
        try store.save(&jane)
        var again = Writer(id: 1, name: "Jane Austen", books: jane.books)
        try store.save(&again)
        #expect(again.ref == jane.ref)
        #expect(try store.graph.count(of: "Writer") == 1)
        #expect(try store.graph.find(Writer.self, identity: 1)?.name == "Jane Austen")
    }

    @Test("a changed identity changes the object of the ref")
    func changedIdentity() throws {
        var jane = writer()
        try store.save(&jane)
        let ref = jane.ref
        jane.id = 2
        try store.save(&jane)
        #expect(jane.ref == ref)
        #expect(try store.graph.find(Writer.self, identity: 1) == nil)
        #expect(try store.graph.find(Writer.self, identity: 2)?.ref == ref)
    }

    @Test("a decimal that is not a number is refused, and does not become null")
    func decimalNaN() throws {
        let store = try Store.inMemory(schema: Schema(of: Price.self))
        var price = Price(amount: 9.5)
        try store.save(&price)
        price.amount = Decimal.nan
        let error = try #require(throws: CambiumError.self) { try store.save(&price) }
        #expect(error.code == .invalidInput)
        #expect(try store.graph.fetch(Price.self).map(\.amount) == [9.5])
        #expect(throws: CambiumError.self) { try store.graph.fetch(Price.self) { $0.amount == Decimal.nan } }
    }

    @Test("a save after a deletion is an error with its own code")
    func deleted() throws {
        var jane = writer()
        try store.save(&jane)
        var other = jane
        try store.delete(&jane)
        #expect(jane.ref == nil)
        let error = try #require(throws: CambiumError.self) { try store.save(&other) }
        #expect(error.code == .objectDeleted)
        #expect(jane.books.allSatisfy { $0.ref == nil })
        try store.save(&jane)
        #expect(try store.graph.count(of: "Writer") == 1)
        #expect(try store.graph.count(of: "Book") == 2)
    }

    @Test("an array literal clears members, and a ToMany without a statement leaves them")
    func statements() throws {
        var jane = writer()
        try store.save(&jane)
        var tag = Tag("novel")
        try store.save(&tag)
        #expect(try store.graph.find(Tag.self, identity: "novel")?.books.count == 1)
        tag.books = []
        try store.save(&tag)
        #expect(try store.graph.find(Tag.self, identity: "novel")?.books.count == 0)
    }

    @Test("a delete of a record that was never saved is an error")
    func deleteUnsaved() throws {
        var tag = Tag("x")
        let error = try #require(throws: CambiumError.self) { try store.delete(&tag) }
        #expect(error.code == .objectDeleted)
    }

    @Test("a member that was removed from a set is unlinked, and not deleted")
    func removedFromSet() throws {
        var jane = writer()
        try store.save(&jane)
        jane.books[0].tags = []
        try store.save(&jane)
        #expect(try store.graph.find(Writer.self, identity: 1)?.books.first?.tags.isEmpty == true)
        #expect(try store.graph.find(Tag.self, identity: "novel")?.books.count == 0)
    }

    @Test("a save sets the refs of inner records to the record that contains them")
    func refsBack() throws {
        var (jane, anne) = (writer(), Writer(id: 2, name: "Anne"))
        try store.save(&jane)
        #expect(jane.books.map(\.writer) == [jane.ref, jane.ref])
        jane.books[1].title = "Agnes Grey"
        try store.save(&jane.books[1])
        #expect(try store.graph.find(Writer.self, identity: 1)?.books.map(\.title) == ["Emma", "Agnes Grey"])
        anne.books = [jane.books.removeLast()]
        try store.save(&anne)
        #expect(anne.books.map(\.writer) == [anne.ref])
        anne.books[0].price = 3
        try store.save(&anne.books[0])
        #expect(try store.graph.find(Writer.self, identity: 2)?.books.map(\.price) == [3])
        #expect(try store.graph.find(Writer.self, identity: 1)?.books.map(\.title) == ["Emma"])
    }

    @Test("the order of an array is kept")
    func order() throws {
        var jane = writer()
        jane.books += ["A", "B", "C", "D"].map { Book($0) }
        try store.save(&jane)
        jane.books.append(jane.books.removeFirst())
        jane.books.insert(Book("new"), at: 2)
        jane.books.swapAt(0, 3)
        try store.save(&jane)
        #expect(try store.graph.find(Writer.self, identity: 1)?.books.map(\.title) == jane.books.map(\.title))
    }

    @Test("a ref of a transaction that was rolled back does not lead to the object that got its id")
    func rolledBack() throws {
        struct Stop: Error {}
        var lost = Tag("lost")
        #expect(throws: Stop.self) {
            try store.write { transaction in
                try transaction.save(&lost)
                throw Stop()
            }
        }
        var other = Tag("other")
        try store.save(&other)
        #expect(lost.ref?.id == other.ref?.id)
        lost.name = "found"
        try store.save(&lost)
        #expect(lost.ref?.id != other.ref?.id)
        #expect(try store.graph.fetch(Tag.self).map(\.name) == ["other", "found"])
    }

    @Test("a blocking save gives no ref if the commit fails")
    func noRefAfterFailure() throws {
        var jane = Writer(id: 1, name: String(repeating: "x", count: 41))
        let error = try #require(throws: CambiumError.self) { try store.save(&jane) }
        #expect(error.code == .ruleViolated)
        #expect(jane.ref == nil)
        #expect(store.graph.objectCount == 0)
    }

    @Test("a caught error of a save in part fails the transaction")
    func caughtError() throws {
        var jane = Writer(id: 1, name: "Jane", books: [Book("Emma")])
        jane.books[0].tags = [Tag(""), Tag("ok")]
        var stolen = Tag("foreign")
        let other = try Library.store()
        try other.save(&stolen)
        jane.books[0].tags = [stolen]
        let error = try #require(throws: CambiumError.self) {
            try store.write { transaction in _ = try? transaction.save(&jane) }
        }
        #expect(error.code == .misuse)
        #expect(store.graph.objectCount == 0)
    }

    @Test("a record of another store is refused")
    func otherStore() throws {
        var tag = Tag("x")
        try store.save(&tag)
        let other = try Library.store()
        let error = try #require(throws: CambiumError.self) { try other.save(&tag) }
        #expect(error.code == .misuse)
    }

    @Test("the members that a record has in another store are refused, also if an object has the same id and identity here")
    func otherStoreMembers() throws {
        let other = try Library.store()
        for store in [store, other] {
            var book = Book("Emma", tags: [Tag("novel")])
            try store.save(&book)
        }
        var tag = try #require(try store.graph.find(Tag.self, identity: "novel"))
        tag.ref = nil
        let error = try #require(throws: CambiumError.self) { try other.save(&tag) }
        #expect(error.code == .misuse)
        tag.books = ToMany()
        try other.save(&tag)
        #expect(try other.graph.find(Tag.self, identity: "novel")?.books.count == 1)
    }

    @Test("a task saves without blocking its thread")
    func inTask() async throws {
        let saved = try await store.save(Tag("async"))
        #expect(saved.ref != nil)
        let both = try await store.save([saved, Tag("more")])
        #expect(both.map(\.name) == ["async", "more"])
        #expect(try store.graph.count(of: "Tag") == 2)
    }

    @Test("records that contain each other in a ring keep their links")
    func ring() throws {
        var anna = Person("Anna")
        try store.save(&anna)
        var ben = Person("Ben", friends: [anna])
        try store.save(&ben)
        anna.friends = [ben]
        try store.save(&anna)
        let annaRef = try #require(anna.ref)
        var read = try store.graph.load(annaRef)
        #expect(read.friends.map(\.name) == ["Ben"])
        #expect(read.friends.first?.friends.isEmpty == true)
        read.name = "Anne"
        read.friends[0].name = "Benn"
        try store.save(&read)
        let benRef = try #require(ben.ref)
        #expect(try store.graph.load(benRef).friends.map(\.name) == ["Anne"])
    }

    @Test("a chain of too many nested records is an error")
    func deepChain() throws {
        var last = try store.write { try $0.insert("Person", ["name": "0"]) }.result
        try store.write { transaction in
            for number in 1...200 {
                last = try transaction.insert("Person", ["name": .string("\(number)")], links: ["friends": [last]])
            }
        }
        let error = try #require(throws: CambiumError.self) { try store.graph.load(Person.self, last) }
        #expect(error.code == .limitExceeded)
    }

    @Test("a ref that leads back to the containing record is not checked, because the save does not write it")
    func staleRefBack() throws {
        var former = Writer(id: 2, name: "Anne")
        try store.save(&former)
        var book = Book("Emma")
        book.writer = former.ref
        try store.delete(&former)
        var jane = Writer(id: 1, name: "Jane", books: [book])
        try store.save(&jane)
        #expect(try store.graph.find(Writer.self, identity: 1)?.books.first?.writer == jane.ref)
        #expect(throws: CambiumError.self) { try store.save(&book) }
    }
}

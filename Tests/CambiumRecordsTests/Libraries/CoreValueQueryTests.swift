import Cambium
import FoundationEssentials
import TestFixtures
import Testing

/// The cases of CoreValue's own tests for queries, types and unique structs, in this API.
@Suite("CoreValue's cases: queries, types and unique structs")
struct CoreValueQueryTests {
    typealias Article = Articles.Article
    typealias Author = Articles.Author
    typealias Category = Articles.Category

    private func employees() throws -> Store {
        let store = try Companies.store()
        var employees = (0..<50).map { Companies.Employee("employee \($0)", age: Int16($0 + 10)) }
        try store.save(&employees)
        return store
    }

    @Test("a condition with two sides finds one employee")
    func young() throws {
        #expect(try employees().graph.fetch(Companies.Employee.self) { $0.age > 10 && $0.age < 12 }.map(\.age) == [11])
    }

    @Test("a condition finds all employees above an age")
    func old() throws {
        #expect(try employees().graph.fetch(Companies.Employee.self) { $0.age > 50 }.count == 9)
    }

    @Test("a descending order begins with the greatest value")
    func order() throws {
        let query = RecordQuery<Companies.Employee>().sorted(by: \.age, .descending)
        #expect(try employees().graph.first(query)?.age == 59)
    }

    @Test("tasks read the structs of one moment while another struct is saved")
    func tasks() async throws {
        let store = try employees()
        let graph = store.graph
        let ages = try graph.fetch(Companies.Employee.self).map(\.age)
        try await withThrowingTaskGroup(of: [Int16].self) { group in
            for _ in 0..<4 { group.addTask { try graph.fetch(Companies.Employee.self).map(\.age) } }
            _ = try await store.save(Companies.Employee("late", age: 99))
            for try await found in group { #expect(found == ages) }
        }
        #expect(ages.count == 50)
        #expect(try store.graph.count(of: "Employee") == 51)
    }

    @Test("one object that a struct cannot hold fails a fetch, and a collection returns the others")
    func strictOrCollecting() throws {
        enum Kind: String, AttributeValue { case sedan, pickup }
        struct Car: EntityRecord {
            var kind: Kind
            var ref: Ref<Car>?
            static let recordSchema = RecordSchema<Car>("Car") { RecordProperty("kind", \.kind) }
            init(from row: inout RecordReader) throws {
                kind = try row.read(0)
                ref = row.ref()
            }
        }
        let store = try Store.inMemory(schema: Schema(of: Car.self))
        try store.write { transaction in
            for kind in ["sedan", "hovercraft", "pickup"] { try transaction.insert("Car", ["kind": .string(kind)]) }
        }
        let error = try #require(throws: CambiumError.self) { try store.graph.fetch(Car.self) }
        #expect(error.code == .unexpectedValue)
        let (cars, errors) = try store.graph.collect(RecordQuery<Car>())
        #expect(cars.map(\.kind) == [.sedan, .pickup])
        #expect(errors.count == 1)
    }

    @Test("an optional property is nil only for null, and hides no other error")
    func optional() throws {
        enum Kind: String, AttributeValue { case sedan, pickup }
        struct Car: BlankRecord {
            var kind: Kind?
            var ref: Ref<Car>?
            static let recordSchema = RecordSchema<Car>("Car") { RecordProperty("kind", \.kind) }
        }
        let store = try Store.inMemory(schema: Schema(of: Car.self))
        let ids = try store.write { transaction in
            [try transaction.insert("Car", ["kind": .null]), try transaction.insert("Car", ["kind": "hovercraft"])]
        }.result
        #expect(try store.graph.load(Car.self, ids[0]).kind == nil)
        let error = try #require(throws: CambiumError.self) { try store.graph.load(Car.self, ids[1]) }
        #expect(error.code == .unexpectedValue)
        #expect(error.message.contains("Car/2.kind is hovercraft"))
    }

    @Test("an enum may have whole numbers, which the schema lists, and another stored number is an error")
    func numbers() throws {
        enum Wheels: Int16, CaseIterable, AttributeValue {
            case three = 3
            case four
        }
        struct Car: EntityRecord {
            var wheels: Wheels
            var ref: Ref<Car>?
            static let recordSchema = RecordSchema<Car>("Car") { RecordProperty("wheels", \.wheels) }
            init(_ wheels: Wheels) { self.wheels = wheels }
            init(from row: inout RecordReader) throws {
                wheels = try row.read(0)
                ref = row.ref()
            }
        }
        let store = try Store.inMemory(schema: Schema(of: Car.self))
        var car = Car(.four)
        try store.save(&car)
        #expect(try store.graph.fetch(Car.self).map(\.wheels) == [.four])
        let refusal = try #require(throws: CambiumError.self) { try store.write { try $0.insert("Car", ["wheels": 5]) } }
        #expect(refusal.code == .ruleViolated)
        let other = try Store.inMemory(schema: Schema { EntityDefinition("Car") { AttributeDefinition("wheels", .int16) } })
        let id = try other.write { try $0.insert("Car", ["wheels": 5]) }.result
        let error = try #require(throws: CambiumError.self) { try other.graph.load(Car.self, id) }
        #expect(error.code == .unexpectedValue)
        #expect(error.message.contains("Car/1.wheels is 5"))
    }

    @Test("a unique struct that is saved twice is one object")
    func savedTwice() throws {
        let store = try Articles.store()
        for _ in 0..<2 {
            var category = Articles.football()
            try store.save(&category)
        }
        #expect(try store.graph.fetch(Category.self).map(\.articles.count) == [3])
        #expect(try store.graph.count(RecordQuery<Author>()) == 2)
    }

    @Test("another identity of a saved struct changes its object, and CoreValue makes a second one")
    func changedIdentity() throws {
        let store = try Articles.store()
        var category = Articles.football()
        try store.save(&category)
        category.label = "curling"
        try store.save(&category)
        #expect(try store.graph.fetch(Category.self).map(\.label) == ["curling"])
        category.label = "football"
        category.ref = nil
        try store.save(&category)
        #expect(try store.graph.fetch(Category.self).map(\.label) == ["curling", "football"])
    }

    @Test("structs without refs update the objects of their identities, at every level")
    func updatedByIdentity() throws {
        let store = try Articles.store()
        var category = Articles.football()
        try store.save(&category)
        let second = Article(2, "new 2", Author("a2", "Kafka"))
        let third = Article(3, "new 3", Author("a1", "Hemingway"))
        var next = [
            Category("sports", "football", [Article(1, "new 1", Author("a1", "Hemingway")), third]),
            Category("sports", "hockey", [second, third]),
        ]
        try store.save(&next)
        let read = try store.graph.fetch(Category.self)
        #expect(read.map(\.label) == ["football", "hockey"])
        #expect(read.map { $0.articles.map(\.text) } == [["new 1", "new 3"], ["new 2", "new 3"]])
        #expect(read[1].articles[0].author?.name == "Kafka")
        #expect(try store.graph.count(RecordQuery<Article>()) == 3)
    }

    @Test("of two structs with one identity in an array, the last one is saved")
    func contradiction() throws {
        let store = try Articles.store()
        var category = Articles.football()
        category.articles.append(Article(1, "last", Author("a1", "Hemingway")))
        try store.save(&category)
        let read = try #require(try store.graph.fetch(Category.self).first)
        #expect(read.articles.map(\.id) == [1, 2, 3])
        #expect(read.articles[0].text == "last")
    }
}

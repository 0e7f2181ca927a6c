import Cambium
import Foundation
import TestFixtures
import Testing

@Suite("Predicates of Foundation")
struct RecordPredicateTests {
    /// A record whose related records are nested, so that predicates can follow them.
    struct Child: BlankRecord, Equatable {
        var name = ""
        var age = 0
        var nick: String?
        var isAway = false
        var ref: Ref<Child>?

        static let recordSchema = RecordSchema<Child>("Child") {
            RecordProperty("name", \.name)
            RecordProperty("age", \.age)
            RecordProperty("nick", \.nick)
            RecordProperty("isAway", \.isAway)
        }
        init() {}
        init(_ name: String, _ age: Int, nick: String? = nil, isAway: Bool = false) {
            (self.name, self.age, self.nick, self.isAway) = (name, age, nick, isAway)
        }
    }

    struct Parent: BlankRecord, Equatable {
        var name = ""
        var children: [Child] = []
        var favorite: Child?
        var ref: Ref<Parent>?
        var comment = ""

        static let recordSchema = RecordSchema<Parent>("Parent") {
            RecordProperty("name", \.name)
            RecordProperty("children", \.children)
            RecordProperty("favorite", \.favorite)
        }
        init() {}
        init(_ name: String, _ children: [Child], favorite: Child? = nil) {
            (self.name, self.children, self.favorite) = (name, children, favorite)
        }
    }

    struct House: BlankRecord, Equatable {
        var name = ""
        var owner: Parent?
        var ref: Ref<House>?

        static let recordSchema = RecordSchema<House>("House") {
            RecordProperty("name", \.name)
            RecordProperty("owner", \.owner)
        }
        init() {}
        init(_ name: String, owner: Parent? = nil) { (self.name, self.owner) = (name, owner) }
    }

    private let store: Store

    init() throws {
        store = try Store.inMemory(schema: Schema(of: Parent.self))
        var parents = [
            Parent("Ada", [Child("Ann", 3), Child("Bob", 12, nick: "Bo", isAway: true)], favorite: Child("Cy", 5, nick: "C")),
            Parent("Max", [Child("Dan", 8)], favorite: Child("Eve", 40)),
            Parent("Zoe", []),
        ]
        try store.save(&parents)
    }

    /// Checks that a query and Foundation's own evaluation agree, and returns the names.
    private func parents(_ predicate: Predicate<Parent>) throws -> [String] {
        let found = try store.graph.fetch(RecordQuery(predicate))
        #expect(try found == store.graph.fetch(Parent.self).filter { try predicate.evaluate($0) })
        return found.map(\.name)
    }

    private func children(_ predicate: Predicate<Child>) throws -> [String] {
        let found = try store.graph.fetch(RecordQuery(predicate))
        #expect(try found == store.graph.fetch(Child.self).filter { try predicate.evaluate($0) })
        return found.map(\.name)
    }

    @Test("values, logic and null") func values() throws {
        let limit = 5
        #expect(try children(#Predicate { $0.age > limit && $0.name != "Eve" }) == ["Bob", "Dan"])
        #expect(try children(#Predicate { $0.age <= 3 || !($0.age < 40) }) == ["Ann", "Eve"])
        #expect(try children(#Predicate { $0.age >= 8 && $0.nick == nil }) == ["Dan", "Eve"])
        #expect(try children(#Predicate { $0.nick != "C" }) == ["Ann", "Bob", "Dan", "Eve"])
        #expect(try children(#Predicate { $0.isAway }) == ["Bob"])
        #expect(try children(#Predicate { _ in true }).count == 5)
    }

    @Test("lists, ranges and texts") func lists() throws {
        let names = ["Ann", "Eve"]
        #expect(try children(#Predicate { names.contains($0.name) }) == ["Ann", "Eve"])
        #expect(try children(#Predicate { (3...8).contains($0.age) }) == ["Ann", "Cy", "Dan"])
        #expect(try children(#Predicate { (3..<8).contains($0.age) }) == ["Ann", "Cy"])
        let range = 12...50
        #expect(try children(#Predicate { range.contains($0.age) }) == ["Bob", "Eve"])
        #expect(try children(#Predicate { $0.name.contains("n") }) == ["Ann", "Dan"])
        #expect(try children(#Predicate { $0.name.starts(with: "B") }) == ["Bob"])
        #expect(try children(#Predicate { $0.name.isEmpty }) == [])
    }

    @Test("a list with nil contains the null of an object") func listsWithNil() throws {
        let nicks = [nil, "Bo"]
        #expect(try children(#Predicate { nicks.contains($0.nick) }) == ["Ann", "Bob", "Dan", "Eve"])
        #expect(try children(#Predicate { !nicks.contains($0.nick) }) == ["Cy"])
        let nothing: [String?] = [nil]
        #expect(try children(#Predicate { nothing.contains($0.nick) }) == ["Ann", "Dan", "Eve"])
        #expect(try parents(#Predicate { nicks.contains($0.favorite.flatMap { $0.nick }) }) == ["Max", "Zoe"])
        let texts: [String?] = ["Bo", "C"]
        #expect(try children(#Predicate { texts.contains($0.nick) }) == ["Bob", "Cy"])
    }

    @Test("a forced unwrap of null makes a comparison false") func forcedUnwraps() throws {
        func children(_ predicate: Predicate<Child>) throws -> [String] { try store.graph.fetch(RecordQuery(predicate)).map(\.name) }
        #expect(try children(#Predicate { $0.nick! != "C" }) == ["Bob"])
        #expect(try children(#Predicate { $0.nick! == "C" }) == ["Cy"])
        #expect(try children(#Predicate { !($0.nick! == "C") }) == ["Ann", "Bob", "Dan", "Eve"])
        func parents(_ predicate: Predicate<Parent>) throws -> [String] { try store.graph.fetch(RecordQuery(predicate)).map(\.name) }
        #expect(try parents(#Predicate { $0.favorite!.name != "Cy" }) == ["Max"])
        #expect(try parents(#Predicate { $0.favorite!.nick != "C" }) == ["Max"])
        #expect(try parents(#Predicate { $0.favorite!.nick! != "x" }) == ["Ada"])
    }

    @Test("a forced unwrap of null makes a search for nil and a ?? false") func unwrappedOptionals() throws {
        let nicks = [nil, "Bo"]
        #expect(try store.graph.fetch(RecordQuery(#Predicate<Parent> { nicks.contains($0.favorite!.nick) })).map(\.name) == ["Max"])
        let housing = try Store.inMemory(schema: Schema(of: House.self))
        var houses = [House("a"), House("b", owner: Parent("Ada", [])), House("c", owner: Parent("Max", [], favorite: Child("Eve", 40)))]
        try housing.save(&houses)
        let staying = #Predicate<House> { !($0.owner!.favorite?.isAway ?? true) }
        let away = #Predicate<House> { $0.owner!.favorite?.isAway ?? true }
        #expect(try housing.graph.fetch(RecordQuery(away)).map(\.name) == ["b"])
        #expect(try housing.graph.fetch(RecordQuery(staying)).map(\.name) == ["a", "c"])
    }

    @Test("a forced unwrap after an optional chain is skipped if the chain is nil") func unwrapsInChains() throws {
        let other = #Predicate<Parent> { $0.favorite.flatMap { $0.nick! } != "C" }
        #expect(try store.graph.fetch(RecordQuery(other)).map(\.name) == ["Zoe"])
    }

    @Test("relationships") func relationships() throws {
        #expect(try parents(#Predicate { $0.favorite?.name == "Cy" }) == ["Ada"])
        #expect(try parents(#Predicate { $0.favorite == nil }) == ["Zoe"])
        #expect(try parents(#Predicate { $0.children.contains { $0.age > 7 } }) == ["Ada", "Max"])
        #expect(try parents(#Predicate { $0.children.allSatisfy { $0.age > 7 } }) == ["Max", "Zoe"])
        #expect(try parents(#Predicate { $0.children.count == 2 }) == ["Ada"])
        #expect(try parents(#Predicate { $0.children.isEmpty }) == ["Zoe"])
        #expect(try parents(#Predicate { $0.children.filter { $0.age > 7 }.isEmpty }) == ["Zoe"])
        #expect(try parents(#Predicate { $0.favorite?.name.contains("y") ?? false }) == ["Ada"])
        #expect(try parents(#Predicate { !($0.favorite?.name.contains("y") ?? false) }) == ["Max", "Zoe"])
    }

    @Test("a condition after an optional chain may be compared with true") func comparedConditions() throws {
        #expect(try children(#Predicate { $0.nick?.contains("o") == true }) == ["Bob"])
        #expect(try children(#Predicate { !($0.nick?.contains("o") == true) }) == ["Ann", "Cy", "Dan", "Eve"])
        #expect(try children(#Predicate { $0.isAway == true }) == ["Bob"])
        #expect(try parents(#Predicate { $0.favorite?.name.isEmpty == true }) == [])
        let other = #Predicate<Child> { $0.nick?.contains("o") == false }
        let error = try #require(throws: CambiumError.self) { try RecordQuery(other) }
        #expect(error.code == .invalidInput && error.message.contains("is a condition"))
        let counted = #Predicate<Parent> { $0.children.filter { $0.age > 7 }.count > 1 }
        let refusal = try #require(throws: CambiumError.self) { try RecordQuery(counted) }
        #expect(refusal.code == .invalidInput && refusal.message.contains("counts filtered members"))
    }

    @Test("a number of members after an optional chain is nil if there is no object") func optionalChains() throws {
        let store = try Store.inMemory(schema: Schema(of: House.self))
        var houses = [House("a"), House("b", owner: Parent("Ada", [])), House("c", owner: Parent("Max", [Child("Dan", 8)]))]
        try store.save(&houses)
        func names(_ predicate: Predicate<House>) throws -> [String] {
            let found = try store.graph.fetch(RecordQuery(predicate))
            #expect(try found == store.graph.fetch(House.self).filter { try predicate.evaluate($0) })
            return found.map(\.name)
        }
        #expect(try names(#Predicate { $0.owner?.children.count == 0 }) == ["b"])
        #expect(try names(#Predicate { $0.owner?.children.count != 0 }) == ["a", "c"])
        #expect(try names(#Predicate { $0.owner?.children.count == nil }) == ["a"])
        #expect(try names(#Predicate { $0.owner?.children.count != nil }) == ["b", "c"])
        #expect(try names(#Predicate { $0.owner?.children.isEmpty ?? false }) == ["b"])
    }

    @Test("no condition on members is true after a forced unwrap of null") func unwrappedOwners() throws {
        let store = try Store.inMemory(schema: Schema(of: House.self))
        var houses = [House("a"), House("b", owner: Parent("Ada", [])), House("c", owner: Parent("Max", [Child("Dan", 8)]))]
        try store.save(&houses)
        func names(_ predicate: Predicate<House>) throws -> [String] { try store.graph.fetch(RecordQuery(predicate)).map(\.name) }
        #expect(try names(#Predicate { $0.owner!.children.allSatisfy { $0.age > 7 } }) == ["b", "c"])
        #expect(try names(#Predicate { $0.owner!.children.filter { $0.age > 7 }.allSatisfy { $0.isAway } }) == ["b"])
        #expect(try names(#Predicate { $0.owner!.children.filter { $0.age > 7 }.isEmpty }) == ["b"])
        #expect(try names(#Predicate { $0.owner!.children.contains { $0.age > 7 } }) == ["c"])
    }

    @Test("a part without a translation is refused with its name and position")
    func refusals() throws {
        let arithmetic = #Predicate<Child> { $0.name == "x" && $0.age + 1 > 3 }
        let error = try #require(throws: CambiumError.self) { try RecordQuery(arithmetic) }
        #expect(error.code == .invalidInput)
        #expect(error.message.contains("Arithmetic"))
        #expect(error.message.contains("the right side of &&"))
        let outer = #Predicate<Parent> { parent in parent.children.contains { $0.name == parent.name } }
        #expect(throws: CambiumError.self) { try RecordQuery(outer) }
        let unknown = #Predicate<Parent> { $0.comment == "" }
        let missing = try #require(throws: CambiumError.self) { try RecordQuery(unknown) }
        #expect(missing.code == .unknownName)
    }

    /// A record with binary data, in an attribute of type `data` and in one of type `json`.
    struct Picture: BlankRecord, Equatable {
        var bytes = Data()
        var thumbnail: Data?
        var levels: [UInt8] = []
        var ref: Ref<Picture>?

        static let recordSchema = RecordSchema<Picture>("Picture") {
            RecordProperty("bytes", \.bytes)
            RecordProperty("thumbnail", \.thumbnail)
            RecordProperty(json: "levels", \.levels)
        }
    }

    @Test("data is compared with data, and a list of bytes is refused")
    func data() throws {
        let store = try Store.inMemory(schema: Schema(of: Picture.self))
        let (some, other) = (Data([1, 2]), Data([0xFF]))
        var pictures = [Picture(bytes: some), Picture(bytes: other, thumbnail: some), Picture(thumbnail: Data())]
        try store.save(&pictures)
        func serials(_ predicate: Predicate<Picture>) throws -> [UInt64] {
            let found = try store.graph.fetch(RecordQuery(predicate))
            #expect(try found == store.graph.fetch(Picture.self).filter { try predicate.evaluate($0) })
            return found.compactMap { $0.ref?.id.serial }
        }
        let both = [some, Data()]
        #expect(try serials(#Predicate { $0.bytes == some }) == [1])
        #expect(try serials(#Predicate { $0.bytes != some }) == [2, 3])
        #expect(try serials(#Predicate { both.contains($0.bytes) }) == [1, 3])
        #expect(try serials(#Predicate { $0.thumbnail == some }) == [2])
        #expect(try serials(#Predicate { $0.thumbnail == nil }) == [1])
        let levels: [UInt8] = [1]
        let refused = try #require(throws: CambiumError.self) { try RecordQuery(#Predicate<Picture> { $0.levels == levels }) }
        #expect(refused.code == .invalidInput && refused.message.contains("which no attribute can have"), "\(refused.message)")
    }

    @Test("a predicate on the ref of a record is refused, and the closure that the error names finds the record")
    func refs() throws {
        let store = try Store.inMemory(schema: Schema(of: House.self))
        var houses = [House("a"), House("b", owner: Parent("Ada", []))]
        try store.save(&houses)
        let refused = try #require(throws: CambiumError.self) { try RecordQuery(#Predicate<House> { $0.ref == nil }) }
        #expect(refused.code == .invalidInput && refused.message.contains("such as { $0.ref == ref }"), "\(refused.message)")
        let nested = try #require(throws: CambiumError.self) { try RecordQuery(#Predicate<House> { $0.owner?.ref == nil }) }
        #expect(nested.code == .invalidInput && nested.message.contains("such as { $0.owner == ref }"), "\(nested.message)")
        let (house, owner) = (try #require(houses[1].ref), try #require(houses[1].owner?.ref))
        #expect(try store.graph.fetch(RecordQuery<House> { $0.ref == house }).map(\.name) == ["b"])
        #expect(try store.graph.fetch(RecordQuery<House> { $0.owner == owner }).map(\.name) == ["b"])
        #expect(try store.graph.fetch(RecordQuery(#Predicate<House> { $0.name < "z" }).filtered { $0.ref != house }).map(\.name) == ["a"])
    }
}

import Cambium
import Foundation
import Testing

/// The code of Docs/Guides/FromSwiftData.md, word for word. The structs have by hand the conformance that `@Entity` generates in the guide.
@Suite struct FromSwiftDataSnippets {
    struct Trip: EntityRecord {
        var name: String
        var start: Date
        var budget: Decimal = 0
        var stops: [Stop] = []
        var ref: Ref<Trip>?

        static let recordSchema = RecordSchema<Trip>("Trip", indexes: [["start"]]) {
            RecordProperty("name", \.name, .identity)
            RecordProperty("start", \.start)
            RecordProperty("budget", \.budget, .min(0), .default(Decimal(0)))
            RecordProperty("stops", \.stops, .inverse(\Stop.trip), .onDelete(.cascade))
        }
        init(name: String, start: Date, stops: [Stop] = []) { (self.name, self.start, self.stops) = (name, start, stops) }
        init(from row: inout RecordReader) throws {
            name = try row.read("name")
            start = try row.read("start")
            budget = try row.read("budget")
            stops = try row.read("stops")
            ref = row.ref()
        }
        mutating func write(to row: inout RecordWriter) throws {
            try row.write("name", &name)
            try row.write("start", &start)
            try row.write("budget", &budget)
            try row.write("stops", &stops)
        }
    }

    struct Stop: EntityRecord {
        var city: String
        var nights = 1
        var trip: Ref<Trip>?
        var ref: Ref<Stop>?

        static let recordSchema = RecordSchema<Stop>("Stop") {
            RecordProperty("city", \.city)
            RecordProperty("nights", \.nights, .default(1))
            RecordProperty("trip", \.trip)
        }
        init(city: String, nights: Int = 1) { (self.city, self.nights) = (city, nights) }
        init(from row: inout RecordReader) throws {
            city = try row.read("city")
            nights = try row.read("nights")
            trip = try row.read("trip")
            ref = row.ref()
        }
        mutating func write(to row: inout RecordWriter) throws {
            try row.write("city", &city)
            try row.write("nights", &nights)
            try row.write("trip", &trip)
        }
    }

    actor TripForm {
        private let store: Store
        private var edit: Edit

        init(_ store: Store) { (self.store, edit) = (store, store.edit()) }

        func setBudget(of trip: Ref<Trip>, to budget: Decimal) throws { try edit.set(trip.id, "budget", to: budget.attributeValue) }

        func undo() { edit.undo() }

        func save() throws { try store.commit(&edit, policy: .mine, author: Author(actor: "form")) }
    }

    private func open(_ path: String) throws -> Store {
        let store = try Store.open(at: path, creating: Schema(of: Trip.self))
        return store
    }

    private func write(_ store: Store) async throws -> Trip {
        var trip = Trip(name: "Spring", start: Date.now, stops: [Stop(city: "Paris", nights: 3), Stop(city: "Rome")])
        try store.save(&trip, Author(actor: "jane"))
        trip.budget = 900
        trip.stops.swapAt(0, 1)
        try store.save(&trip, Author(actor: "jane"))
        try await store.write(Author(actor: "jane")) { transaction in
            var (autumn, winter) = (Trip(name: "Autumn", start: Date.now), Trip(name: "Winter", start: Date.now))
            try transaction.save(&autumn)
            try transaction.save(&winter)
        }
        return trip
    }

    private func query(_ store: Store) throws {
        let graph = store.graph
        let rich = RecordQuery<Trip> { $0.budget > 500 && $0.stops.any { $0.city == "Rome" } }
        let trips = try graph.fetch(rich.sorted(by: \.start, .descending).limited(to: 10))
        let count = try graph.count(rich)
        let same = try graph.fetch(RecordQuery(#Predicate<Trip> { $0.budget > 500 && $0.stops.contains { $0.city == "Rome" } }))
        let spring = try graph.find(Trip.self, identity: "Spring")
        let nights = try graph.sum(\Stop.nights)
        let cities = try graph.counts(by: { (stop: RecordFields<Stop>) in stop.city })
        for case (.value(let city), let count) in cities { print(city.text, count) }
        #expect(trips.map(\.name) == ["Spring"])
        #expect(count == 1)
        #expect(same.map(\.ref) == trips.map(\.ref))
        #expect(spring?.stops.map(\.city) == ["Rome", "Paris"])
        #expect(nights == 4)
    }

    private func observe(_ store: Store, until isDone: ([Trip]) throws -> Bool) async throws {
        for try await update in store.live(RecordQuery<Trip>().sorted(by: \.start)) {
            let trips = try update.records()
            print(trips.map(\.name), try update.inserted().map(\.index), update.update.deleted.map(\.index))
            if try isDone(trips) { break }
        }
    }

    private func migrate(_ store: Store) throws {
        let next = try SchemaDefinition(of: Trip.self)
        for entry in try store.previewMigration(to: next).entries { print(entry.change.kind, entry.handling, entry.lostCount) }
        try store.migrate(to: next, Author(actor: "deploy"))
    }

    @Test func `structs are saved, queried, edited and migrated as the guide shows`() async throws {
        try await withFolder { folder in
            let store = try open("\(folder)/trips")
            let trip = try await write(store)
            try query(store)
            let form = TripForm(store)
            let ref = try #require(trip.ref)
            try await form.setBudget(of: ref, to: 1000)
            try await form.setBudget(of: ref, to: 2000)
            await form.undo()
            try await form.save()
            #expect(try store.graph.load(ref).budget == 1000)
            let transaction = store.graph.transaction
            try migrate(store)
            #expect(store.graph.transaction == transaction)
            try store.close()
        }
    }

    @Test func `a sequence delivers each change of a query`() async throws {
        let store = try Store.inMemory(schema: Schema(of: Trip.self))
        var names: [[String]] = []
        try await observe(store) { trips in
            names.append(trips.map(\.name))
            var trip = Trip(name: "Spring", start: Date.now)
            try store.save(&trip)
            return names.count == 2
        }
        #expect(names == [[], ["Spring"]])
    }
}

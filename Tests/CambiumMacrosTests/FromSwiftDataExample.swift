#if Macros
    import Cambium
    import Foundation
    import Testing

    /// The structs of Docs/Guides/FromSwiftData.md, word for word.
    @Entity(indexes: [["start"]])
    struct Trip {
        @Identity var name: String
        var start: Date
        @Attribute(.min(0)) var budget: Decimal = 0
        @Relationship(inverse: \Stop.trip, onDelete: .cascade) var stops: [Stop] = []
        @Transient var isSelected = false
    }
    @Entity struct Stop {
        var city: String
        var nights = 1
        var trip: Ref<Trip>?
    }

    @Suite struct FromSwiftDataExample {
        @Test func `the structs of the guide are saved, queried and read`() throws {
            let store = try Store.inMemory(schema: Schema(of: Trip.self))
            let start = Date(timeIntervalSinceReferenceDate: 0)
            var trip = Trip(name: "Spring", start: start, stops: [Stop(city: "Paris", nights: 3), Stop(city: "Rome")])
            trip.isSelected = true
            try store.save(&trip)
            trip.budget = 900
            trip.stops.swapAt(0, 1)
            try store.save(&trip)
            let found = try store.graph.fetch(Trip.self) { $0.budget > 500 && $0.stops.any { $0.city == "Rome" } }
            #expect(found.map(\.name) == ["Spring"])
            #expect(found.first?.stops.map(\.city) == ["Rome", "Paris"])
            #expect(found.first?.isSelected == false)
        }
    }
#endif

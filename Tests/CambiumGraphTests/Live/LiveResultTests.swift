import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

/// The differences that live results report, and how often they run the query.
struct LiveResultTests {
    @Test func `an insert, a deletion, a move and an update are each reported as such`() throws {
        var people = try LivePeople("age > 37", sort: "-age")
        #expect(people.serials == [40, 39, 38])
        #expect(try people.commit(people.insert(50))?.line == "+50@0")
        #expect(try people.commit([people.delete(39)])?.line == "-39@2")
        #expect(try people.commit([people.set(38, "age", .int(60))])?.line == ">38@2-0")
        #expect(try people.commit([people.set(40, "name", .string("x"))])?.line == "~40@2")
        #expect(try people.commit([people.set(40, "age", .int(45))])?.line == "~40@2")
        #expect(try people.commit([people.set(40, "age", .int(3))])?.line == "-40@2")
        #expect(people.result.runCount == 1)
    }

    @Test func `one transaction reports all differences together`() throws {
        var people = try LivePeople("age > 35", sort: "age")
        let ops = [try people.set(36, "age", .int(70)), people.delete(37), try people.set(38, "name", .null)]
        let update = try people.commit(ops + people.insert(41))
        #expect(update?.line == "-37@1 +41@3 >36@0-4 ~38@0")
        #expect(update?.count == 5)
    }

    @Test func `an update of several transactions omits objects whose values are as before`() throws {
        var people = try LivePeople("age > 36", sort: "name")
        let changes = [
            [try people.set(37, "age", .int(50)), try people.set(38, "age", .int(51)), try people.set(39, "age", .int(5))],
            [try people.set(37, "age", .int(37)), try people.set(38, "name", .string("p38")), try people.set(39, "age", .int(39))],
        ]
        #expect(try people.commit(together: changes)?.line == "~38@1")
        let there = [try people.set(40, "name", .string("p00")), try people.set(40, "age", .null)]
        let back = [try people.set(40, "name", .string("p40")), try people.set(40, "age", .int(40))]
        #expect(try people.commit(together: [there, back]) == nil)
        #expect(try people.commit(together: [there, back, [people.set(40, "age", .int(41))]])?.line == "~40@3")
    }

    @Test func `objects that exchange places are one move`() throws {
        var people = try LivePeople("age > 38", sort: "age")
        let update = try people.commit([people.set(39, "age", .int(40)), people.set(40, "age", .int(39))])
        #expect(update.map { $0.moved.count + $0.updated.count } == 2)
        #expect(update?.moved.count == 1)
        #expect(people.serials == [40, 39])
    }

    @Test func `a transaction that does not concern the query causes no update`() throws {
        var people = try LivePeople("team.name == \"a\"", sort: "name")
        #expect(try people.commit([people.setTeam(1, "city", .string("Rome"))]) == nil)
        #expect(try people.commit([people.set(1, "age", .int(99))]) == nil)
        #expect(people.result.runCount == 1)
    }

    @Test func `a change at the end of a path reaches the objects whose answer differs`() throws {
        var people = try LivePeople("team.name == \"a\"", count: 12)
        #expect(try people.commit([people.setTeam(1, "name", .string("a"))])?.line == "+4@0 +8@1 +12@2")
        #expect(try people.commit([people.move(4, toTeam: 2)])?.line == "-4@0")
        #expect(try people.commit([people.move(3, toTeam: 1)])?.line == "+3@0")
        #expect(people.result.runCount == 1)
    }

    @Test func `aggregates over paths follow the members`() throws {
        var people = try LivePeople("team.members.@count > 3", count: 12)
        #expect(people.serials == [])
        #expect(try people.commit([people.move(1, toTeam: 1)])?.line == "+1@0 +4@1 +8@2 +12@3")
        #expect(try people.commit([people.delete(8)])?.line == "-1@0 -4@1 -8@2 -12@3")
        #expect(people.result.runCount == 1)
    }

    @Test func `a window is filled from its reserve`() throws {
        var people = try LivePeople(sort: "age", limit: 4)
        // The reserve has 18 entries.
        for serial in 1...18 {
            #expect(try people.commit([people.delete(serial)])?.line == "-\(serial)@0 +\(serial + 4)@3")
        }
        #expect(people.result.runCount == 1)
        #expect(try people.commit([people.delete(19)])?.line == "-19@0 +23@3")
        #expect(people.result.runCount == 2)
    }

    @Test func `objects beyond the window are not reported`() throws {
        var people = try LivePeople(sort: "age", limit: 4)
        #expect(try people.commit([people.set(30, "name", .null)]) == nil)
        #expect(try people.commit([people.delete(6)]) == nil)
        #expect(try people.commit(people.insert(60)) == nil)
        #expect(try people.commit([people.set(2, "age", .int(50))])?.line == "-2@1 +5@3")
        #expect(try people.commit([people.set(40, "age", .int(0))])?.line == "-5@3 +40@0")
        #expect(people.result.runCount == 1)
    }

    @Test func `sections come and go with their objects`() throws {
        var people = try LivePeople("age <= 4", sort: "age", sections: "team.name")
        #expect(people.serials == [1, 2, 3, 4])
        let named = try #require(try people.commit([people.setTeam(2, "name", .string("b")), people.setTeam(1, "name", .string("a"))]))
        #expect(people.serials == [2, 3, 4, 1])
        #expect(named.insertedSections == [1, 2] && named.deletedSections == [])
        #expect(named.sections.map(\.range) == [0..<2, 2..<3, 3..<4])
        #expect(named.sections.map(\.value) == [.value(.null), .value(.string("a")), .value(.string("b"))])
        let left = try #require(try people.commit([people.delete(4)]))
        #expect(left.deletedSections == [1] && left.sections.map(\.range) == [0..<2, 2..<3])
    }

    @Test func `an object that only changes its section has moved`() throws {
        var people = try LivePeople("age <= 2", sort: "age", sections: "team.name")
        try people.commit([people.setTeam(2, "name", .string("a")), people.setTeam(3, "name", .string("b"))])
        let update = try people.commit([people.setTeam(4, "name", .string("b")), people.move(1, toTeam: 4)])
        #expect(update?.moved.map(\.id.serial) == [1])
        #expect(update?.deletedSections == [0])
    }

    @Test func `a change of many objects runs the query once`() throws {
        var people = try LivePeople("age > 600", sort: "-age", count: 700)
        let ops = try (1...650).map { try people.set($0, "age", .int(Int64(1000 - $0))) }
        let update = try #require(try people.commit(ops))
        #expect(people.result.runCount == 2)
        #expect(try people.result.ids == people.timeline.head.find(Query("Person", where: "age > 600", sort: "-age")))
        #expect(update.deleted.count + 449 == 100 + update.inserted.count)
    }

    @Test func `a cancelled task gets no update whose conditions stopped early`() async throws {
        let task = Task {
            var people = try LivePeople("team.members.@count > 2", count: 12)
            withUnsafeCurrentTask { $0?.cancel() }
            return try people.commit([people.move(1, toTeam: 1)])
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `queries that cannot be live are refused`() throws {
        let people = try LivePeople()
        var query = try Query("Person", sort: "age", limit: 1)
        query.cursor = try people.timeline.head.answer(query).cursor
        #expect(throws: CambiumError.self) { try LiveResult(query, in: people.timeline.head) }
        let folded = try SortKey(parsing: "name[c]")
        #expect(throws: CambiumError.self) { try LiveResult(Query("Person"), sections: folded, in: people.timeline.head) }
        #expect(throws: CambiumError.self) { try LiveResult(Query("Person", where: "nmae == 1"), in: people.timeline.head) }
    }
}

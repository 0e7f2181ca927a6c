import Testing

@testable import Cambium

private struct Club: BlankRecord {
    var name = ""
    var members = ToMany<Member>()
    var chair: Ref<Member>?
    var ref: Ref<Club>?

    static let recordSchema = RecordSchema<Club>("Club") {
        RecordProperty("name", \.name)
        RecordProperty("members", \.members, .inverse("club"))
        RecordProperty("chair", \.chair)
    }
}

private struct Member: BlankRecord {
    var number = 0
    var club: Club?
    var ref: Ref<Member>?

    static let recordSchema = RecordSchema<Member>("Member") {
        RecordProperty("number", \.number, .identity)
        RecordProperty("club", \.club)
    }
}

private struct League: BlankRecord {
    var name = ""
    var clubs: [Club] = []
    var ref: Ref<League>?

    static let recordSchema = RecordSchema<League>("League") {
        RecordProperty("name", \.name)
        RecordProperty("clubs", \.clubs)
    }
}

private struct Season: BlankRecord {
    var year = 0
    var league: League?
    var ref: Ref<Season>?

    static let recordSchema = RecordSchema<Season>("Season") {
        RecordProperty("year", \.year, .identity)
        RecordProperty("league", \.league)
    }
}

@Suite("The records that contain a record")
struct RecordContainerTests {
    @Test("a record that contains only refs does not list the records in which it was saved and read")
    func refs() throws {
        let store = try Store.inMemory(schema: Schema(of: Member.self))
        var club = Club(name: "Reds")
        for number in 0..<3 {
            var member = Member(number: number, club: club)
            try store.save(&member)
            club = try #require(member.club)
        }
        #expect(club.ref?.origin.containers == [])
        let read = try #require(try store.graph.find(Member.self, identity: 1)?.club)
        #expect(read.ref?.origin.containers == [])
        club.name = "Blues"
        try store.save(&club)
        #expect(try store.graph.fetch(Club.self).map(\.members.count) == [3])
    }

    @Test("a record does not list the records in which it was saved if it cannot contain them")
    func otherEntities() throws {
        let store = try Store.inMemory(schema: Schema(of: Season.self))
        var league = League(name: "North", clubs: [Club(name: "Reds")])
        for year in 2001..<2004 {
            var season = Season(year: year, league: league)
            try store.save(&season)
            league = try #require(season.league)
        }
        #expect(league.ref?.origin.containers == [])
        #expect(try store.graph.fetch(League.self).map(\.clubs.count) == [1])
        #expect(try store.graph.fetch(Season.self) { $0.league.name == "North" }.count == 3)
    }
}

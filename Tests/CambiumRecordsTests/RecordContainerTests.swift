import Cambium
import Testing

@testable import CambiumRecords

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

private struct Crew: BlankRecord {
    var name = ""
    var sailors: [Sailor] = []
    var ref: Ref<Crew>?

    static let recordSchema = RecordSchema<Crew>("Crew") {
        RecordProperty("name", \.name, .identity)
        RecordProperty("sailors", \.sailors, .inverse("crew"))
    }
}

private struct Sailor: BlankRecord {
    var number = 0
    var crew: Crew?
    var ref: Ref<Sailor>?

    static let recordSchema = RecordSchema<Sailor>("Sailor") {
        RecordProperty("number", \.number, .identity)
        RecordProperty("crew", \.crew)
    }
}

private struct Course: BlankRecord {
    var name = ""
    var pupils: [Pupil] = []
    var ref: Ref<Course>?

    static let recordSchema = RecordSchema<Course>("Course") {
        RecordProperty("name", \.name, .identity)
        RecordProperty("pupils", \.pupils, .inverse("courses"))
    }
}

private struct Pupil: BlankRecord {
    var number = 0
    var courses: [Course] = []
    var ref: Ref<Pupil>?

    static let recordSchema = RecordSchema<Pupil>("Pupil") {
        RecordProperty("number", \.number, .identity)
        RecordProperty("courses", \.courses)
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

    @Test("a program can add and then remove the record that contained a record")
    func removedTarget() throws {
        let store = try Store.inMemory(schema: Schema(of: Crew.self))
        var crew = Crew(name: "Reds", sailors: [Sailor(number: 1)])
        try store.save(&crew)
        var sailor = crew.sailors[0]
        try store.save(&sailor)
        #expect(try store.graph.fetch(Crew.self).map(\.sailors.count) == [1])
        sailor.crew = crew
        try store.save(&sailor)
        sailor.crew = nil
        try store.save(&sailor)
        #expect(try store.graph.fetch(Crew.self).map(\.sailors.count) == [0])
    }

    @Test("a program can add and then remove a member that contained a record")
    func removedMember() throws {
        let store = try Store.inMemory(schema: Schema(of: Course.self))
        var course = Course(name: "Latin", pupils: [Pupil(number: 1)])
        try store.save(&course)
        var pupil = course.pupils[0]
        try store.save(&pupil)
        #expect(try store.graph.fetch(Course.self).map(\.pupils.count) == [1])
        pupil.courses = [course]
        try store.save(&pupil)
        pupil.courses = []
        try store.save(&pupil)
        #expect(try store.graph.fetch(Course.self).map(\.pupils.count) == [0])
    }
}

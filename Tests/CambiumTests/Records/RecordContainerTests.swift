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
}

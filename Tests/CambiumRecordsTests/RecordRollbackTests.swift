import Cambium
import TestFixtures
import Testing

private struct Club: BlankRecord {
    var name = ""
    var members: [Member] = []
    var fans: [Fan] = []
    var guests: [Guest] = []
    var ref: Ref<Club>?

    static let recordSchema = RecordSchema<Club>("Club") {
        RecordProperty("name", \.name)
        RecordProperty("members", \.members, .inverse("club"))
        RecordProperty("fans", \.fans, .inverse("clubs"))
        RecordProperty("guests", \.guests, .inverse("clubs"))
    }
}

private struct Member: BlankRecord {
    var name = ""
    var club: Ref<Club>?
    var ref: Ref<Member>?

    static let recordSchema = RecordSchema<Member>("Member") {
        RecordProperty("name", \.name)
        RecordProperty("club", \.club)
    }
}

private struct Fan: BlankRecord {
    var name = ""
    var clubs: [Ref<Club>] = []
    var ref: Ref<Fan>?

    static let recordSchema = RecordSchema<Fan>("Fan") {
        RecordProperty("name", \.name)
        RecordProperty("clubs", \.clubs)
    }
}

private struct Guest: BlankRecord {
    var name = ""
    var clubs: Set<Ref<Club>> = []
    var ref: Ref<Guest>?

    static let recordSchema = RecordSchema<Guest>("Guest") {
        RecordProperty("name", \.name)
        RecordProperty("clubs", \.clubs)
    }
}

@Suite("Records of a transaction that was rolled back")
struct RecordRollbackTests {
    @Test("the refs of inner records that lead back are valid if the transaction is repeated after a rollback")
    func refsBack() throws {
        struct Stop: Error {}
        let store = try Store.inMemory(schema: Schema(of: Club.self))
        var club = Club(name: "Reds", members: [Member(name: "a")], fans: [Fan(name: "b")], guests: [Guest(name: "c")])
        #expect(throws: Stop.self) {
            try store.write { transaction in
                try transaction.save(&club)
                throw Stop()
            }
        }
        try store.save(&club)
        (club.members[0].name, club.fans[0].name, club.guests[0].name) = ("A", "B", "C")
        try store.save(&club.members[0])
        try store.save(&club.fans[0])
        try store.save(&club.guests[0])
        let read = try #require(try store.graph.fetch(Club.self).first)
        #expect(read.members.map(\.name) == ["A"])
        #expect(read.fans.map(\.name) == ["B"])
        #expect(read.guests.map(\.name) == ["C"])
    }

    @Test func `a save ignores a ref of a transaction that a full disk rolled back`() throws {
        let volume = GatedVolume()
        let store = try Store.create(volume, schema: Schema(of: Tag.self), durability: .synced)
        var lost = Tag("lost")
        volume.isFull.store(true, ordering: .relaxed)
        #expect(code { try store.write { try $0.save(&lost) } } == .ioFailure)
        volume.isFull.store(false, ordering: .relaxed)
        var other = Tag("other")
        try store.save(&other)
        #expect(lost.ref?.id == other.ref?.id)
        lost.name = "found"
        try store.save(&lost)
        #expect(try store.graph.fetch(Tag.self).map(\.name) == ["other", "found"])
    }
}

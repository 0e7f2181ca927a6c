import Cambium
import TestFixtures
import Testing

private struct Score: Codable, Equatable, Sendable { var points: [Int] = [] }

/// A record that is only a schema.
private struct Team: BlankRecord, Equatable {
    var name = ""
    var rank: Int?
    var score = Score()
    var best: Score?
    var players: [Player] = []
    var captain: Ref<Player>?
    var isShown = false
    var ref: Ref<Team>?

    static let recordSchema = RecordSchema<Team>("Team") {
        RecordProperty("name", \.name, .identity)
        RecordProperty("rank", \.rank)
        RecordProperty(json: "score", \.score)
        RecordProperty(json: "best", \.best)
        RecordProperty("players", \.players, .inverse("team"))
        RecordProperty("captain", \.captain)
    }
}

/// A record that reads itself, because it has a constant, and that the schema writes.
private struct Player: EntityRecord, Equatable {
    let number: Int
    var team: Ref<Team>?
    var ref: Ref<Player>?

    static let recordSchema = RecordSchema<Player>("Player") {
        RecordProperty("number", \.number, .identity)
        RecordProperty("team", \.team)
    }
    init(_ number: Int) { self.number = number }
    init(from row: inout RecordReader) throws {
        number = try row.read("number")
        team = try row.read("team")
        ref = row.ref()
    }
}

/// A record that the schema cannot read, because it has a constant and a property without a setter.
private struct Badge: BlankRecord {
    let number = 3
    var text: String { "\(number)" }
    var ref: Ref<Badge>?

    static let recordSchema = RecordSchema<Badge>("Badge") {
        RecordProperty("number", \.number)
        RecordProperty("text", \.text)
    }
}

@Suite("Records that are read and written by their schema")
struct BlankRecordTests {
    @Test("a record that is only a schema reads back equal")
    func readsBack() throws {
        let store = try Store.inMemory(schema: Schema(of: Team.self))
        var team = Team(name: "Reds", score: Score(points: [1, 2]), players: [Player(7), Player(9)])
        try store.save(&team)
        team.captain = team.players[1].ref
        (team.rank, team.best) = (4, Score(points: [5]))
        try store.save(&team)
        #expect(try store.graph.find(Team.self, identity: "Reds") == team)
        #expect(try store.graph.fetch(Player.self).map(\.number) == [7, 9])
        (team.rank, team.best, team.captain) = (nil, nil, nil)
        team.players.removeFirst()
        try store.save(&team)
        #expect(try store.graph.find(Team.self, identity: "Reds") == team)
        let receipt = try store.save(&team)
        #expect(!receipt.hasChanges)
    }

    @Test("a property that the schema does not list has its initial value after reading")
    func unlisted() throws {
        let store = try Store.inMemory(schema: Schema(of: Team.self))
        var team = Team(name: "Reds", isShown: true)
        try store.save(&team)
        #expect(try store.graph.find(Team.self, identity: "Reds")?.isShown == false)
    }

    @Test("a record that is only a schema works in an edit and in a transaction")
    func editsAndTransactions() throws {
        let store = try Store.inMemory(schema: Schema(of: Team.self))
        var (edit, team) = (store.edit(), Team(name: "Reds", players: [Player(7)]))
        try edit.save(&team)
        #expect(try edit.find(Team.self, identity: "Reds") == team)
        try store.commit(&edit)
        try store.write { transaction in
            var read = try #require(try transaction.find(Team.self, identity: "Reds"))
            read.players.append(Player(9))
            try transaction.save(&read)
            #expect(try transaction.find(Team.self, identity: "Reds") == read)
        }
        #expect(try store.graph.find(Team.self, identity: "Reds")?.players.map(\.number) == [7, 9])
    }

    @Test("a schema refuses constants and properties without a setter")
    func unreadable() throws {
        let error = try #require(throws: CambiumError.self) { try Schema(of: Badge.self) }
        #expect(error.code == .invalidInput)
        #expect(error.details.count == 2)
        #expect(error.details.first?.hasPrefix("Badge.number cannot be set") == true)
        #expect(error.details.last?.hasPrefix("Badge.text cannot be set") == true)
    }
}

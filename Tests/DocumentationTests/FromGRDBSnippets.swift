import Cambium
import Foundation
import Testing

/// The code of Docs/Guides/FromGRDB.md, word for word.
@Suite struct FromGRDBSnippets {
    struct Player: EntityRecord, Equatable {
        var name: String
        var score = 0
        var team: Ref<Team>?
        var ref: Ref<Player>?

        static let recordSchema = RecordSchema<Player>("Player", indexes: [["name"]]) {
            RecordProperty("name", \.name)
            RecordProperty("score", \.score, .default(0))
            RecordProperty("team", \.team, .inverse(\Team.players))
        }
        init(name: String, score: Int = 0, team: Ref<Team>? = nil) { (self.name, self.score, self.team) = (name, score, team) }
        init(from row: inout RecordReader) throws {
            name = try row.read("name")
            score = try row.read("score")
            team = try row.read("team")
            ref = row.ref()
        }
        mutating func write(to row: inout RecordWriter) throws {
            try row.write("name", &name)
            try row.write("score", &score)
            try row.write("team", &team)
        }
    }

    struct Team: EntityRecord, Equatable {
        var name: String
        var players = ToMany<Player>()
        var ref: Ref<Team>?

        static let recordSchema = RecordSchema<Team>("Team") {
            RecordProperty("name", \.name, .identity)
            RecordProperty("players", \.players, .onDelete(.cascade))
        }
        init(name: String) { self.name = name }
        init(from row: inout RecordReader) throws {
            name = try row.read("name")
            players = try row.read("players")
            ref = row.ref()
        }
        mutating func write(to row: inout RecordWriter) throws {
            try row.write("name", &name)
            try row.write("players", &players)
        }
    }

    private func open(_ path: String) throws -> Store {
        let store = try Store.open(at: path, creating: Schema(of: Team.self))
        return store
    }

    private func write(_ store: Store) throws -> Player {
        let arthur = try store.write(Author(actor: "jane")) { transaction in
            var reds = Team(name: "Reds")
            try transaction.save(&reds)
            var arthur = Player(name: "Arthur", score: 100, team: reds.ref)
            try transaction.save(&arthur)
            arthur.score = 150
            try transaction.save(&arthur)
            return arthur
        }.result
        return arthur
    }

    private func query(_ store: Store) throws -> [[String]] {
        let graph = store.graph
        let best = RecordQuery<Player> { $0.score >= 100 }.sorted(by: \.score, .descending).limited(to: 10)
        let players = try graph.fetch(best)
        let count = try graph.count(RecordQuery<Player>())
        let reds = try graph.fetch(Player.self) { $0.team.name == "Reds" }
        #expect(count == 3)
        let text = try RecordQuery<Player>("score >= $least and any team.players.name beginswith[c] \"a\"", ["least": 100])
        let found = try graph.fetch(text.sorted(by: \.name))
        for team in try graph.fetch(Team.self) { print(team.name, try team.players.load().map(\.name)) }
        let strong = try graph.fetch(Team.self) { $0.players.sum(\.score) > 1000 }
        for case (.value(let team), let count) in try graph.counts(RecordQuery<Player>(), by: { $0.team.name }) { print(team.text, count) }
        return [players.map(\.name), reds.map(\.name), found.map(\.name), strong.map(\.name)]
    }

    private func observe(_ store: Store, until isDone: ([Player]) throws -> Bool) async throws {
        for try await update in store.live(RecordQuery<Player>().sorted(by: \.score, .descending).limited(to: 10)) {
            let players = try update.records()
            print("Fresh players", players.map(\.name), "inserted at", try update.inserted().map(\.index))
            if try isDone(players) { break }
        }
    }

    private func migrate(_ store: Store) throws {
        let next = try SchemaDefinition(of: Team.self)
        for entry in try store.previewMigration(to: next).entries { print(entry.change.kind, entry.handling, entry.lostCount) }
        try store.migrate(to: next, Author(actor: "deploy")) { before, transaction in
            // Runs in the transaction of the migration, only for what is not automatic.
        }
    }

    @Test func `records are written, queried and migrated as the guide shows`() async throws {
        try await withFolder { folder in
            let store = try open("\(folder)/players")
            let arthur = try write(store)
            var others = [Player(name: "Bo", score: 2000, team: arthur.team), Player(name: "Cy", score: 5)]
            try store.save(&others)
            #expect(try query(store) == [["Bo", "Arthur"], ["Arthur", "Bo"], ["Arthur", "Bo"], ["Reds"]])
            let transaction = store.graph.transaction
            try migrate(store)
            #expect(store.graph.transaction == transaction)
            try store.close()
        }
    }

    @Test func `a derived sum is an attribute of the struct`() throws {
        struct Squad: EntityRecord {
            var name: String
            var total: Int
            var ref: Ref<Squad>?
            static let recordSchema = RecordSchema<Squad>("Team") {
                RecordProperty("name", \.name, .identity)
                RecordProperty("total", \.total, .derived(.sum("players.score")))
            }
            init(from row: inout RecordReader) throws {
                name = try row.read("name")
                total = try row.read("total")
                ref = row.ref()
            }
            mutating func write(to row: inout RecordWriter) throws {
                try row.write("name", &name)
                try row.write("total", &total)
            }
        }
        let store = try Store.inMemory(schema: Schema(of: Team.self, Squad.self))
        let arthur = try write(store)
        let team = try #require(arthur.team?.id)
        #expect(try store.graph.load(Squad.self, team).total == 150)
    }

    @Test func `a sequence delivers the players whenever they change`() async throws {
        let store = try Store.inMemory(schema: Schema(of: Team.self))
        var names: [[String]] = []
        try await observe(store) { players in
            names.append(players.map(\.name))
            var player = Player(name: "Arthur")
            try store.save(&player)
            return names.count == 2
        }
        #expect(names == [[], ["Arthur"]])
    }
}

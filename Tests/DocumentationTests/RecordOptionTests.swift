import Cambium
import Foundation
import Testing

/// The options in the tables of Docs/Use/RECORDS.md have the same effect in a record as in a definition by names.
@Suite struct RecordOptionTests {
    enum Level: String, CaseIterable, AttributeValue { case junior, senior }

    struct Player: EntityRecord {
        var number: Int
        var name: String
        var level: Level
        var born: Date?
        var team: Ref<Team>
        var ref: Ref<Player>?

        static let recordSchema = RecordSchema<Player>("Player", unique: [["name", "level"]], indexes: [["-born"]]) {
            RecordProperty("number", \.number, .identity, .min(1), .max(99))
            RecordProperty("name", \.name, .minLength(1), .maxLength(80), .regex("[a-z]+"), .userInfo(["help": "in lower case"]))
            RecordProperty("level", \.level, .default(Level.junior), .renamed(from: "rank"))
            RecordProperty("born", \.born, .exclude)
            RecordProperty("team", \.team, .onDelete(.deny))
        }
        init(from row: inout RecordReader) throws {
            number = try row.read("number")
            name = try row.read("name")
            level = try row.read("level")
            born = try row.read("born")
            team = try row.read("team")
            ref = row.ref()
        }
        mutating func write(to row: inout RecordWriter) throws {
            try row.write("number", &number)
            try row.write("name", &name)
            try row.write("level", &level)
            try row.write("born", &born)
            try row.write("team", &team)
        }
    }

    struct Team: EntityRecord {
        var playerCount: Int
        var players: [Player]
        var rivals: ToMany<Team>
        var ref: Ref<Team>?

        static let recordSchema = RecordSchema<Team>("Team") {
            RecordProperty("playerCount", \.playerCount, .derived(.count("players")))
            RecordProperty("players", \.players, .inverse(\Player.team), .minCount(1), .maxCount(20))
            RecordProperty("rivals", \.rivals, .clone(.share))
        }
        init(from row: inout RecordReader) throws {
            playerCount = try row.read("playerCount")
            players = try row.read("players")
            rivals = try row.read("rivals")
            ref = row.ref()
        }
        mutating func write(to row: inout RecordWriter) throws {
            try row.write("playerCount", &playerCount)
            try row.write("players", &players)
            try row.write("rivals", &rivals)
        }
    }

    @Test func `the options of a record and the arguments of a definition make the same schema`() throws {
        let named = SchemaDefinition {
            EntityDefinition("Team") {
                AttributeDefinition("playerCount", .int64, derived: .count("players"))
                RelationshipDefinition("players", to: "Player", .orderedToMany, inverse: "team", min: 1, max: 20)
                RelationshipDefinition("rivals", to: "Team", .toMany, userInfo: ["clone": "share"])
            }
            EntityDefinition("Player", identity: ["number"], unique: [["name", "level"]], indexes: [["-born"]]) {
                AttributeDefinition("number", .int64, min: 1, max: 99)
                AttributeDefinition(
                    "name", .string, minLength: 1, maxLength: 80, regex: "[a-z]+", userInfo: ["help": "in lower case"])
                AttributeDefinition("level", .string, default: "junior", allowed: ["junior", "senior"], renamedFrom: "rank")
                AttributeDefinition("born", .date, .optional, userInfo: ["exclude": ""])
                RelationshipDefinition("team", to: "Team", inverse: "players", onDelete: .deny, min: 1)
            }
        }
        #expect(try SchemaDefinition(of: Team.self) == named)
        #expect(try Schema(named).entities.map(\.name) == ["Team", "Player"])
    }
}

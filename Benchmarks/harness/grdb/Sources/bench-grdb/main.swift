import Foundation
import GRDB

// The rival of the step "records": the same structs in SQLite through GRDB, as hand-written records and as Codable records.
// bench-grdb WORK [COUNT]

struct Player: FetchableRecord, PersistableRecord {
    static let databaseTableName = "player"
    var id: Int
    var name: String
    var score: Double
    var isActive: Bool
    var level: Int?

    init(_ number: Int) {
        id = number
        name = "player \(number) of the game"
        score = Double(number) * 0.5
        isActive = number % 3 == 0
        level = number % 4 == 0 ? nil : number % 100
    }

    init(row: Row) {
        id = row[0]
        name = row[1]
        score = row[2]
        isActive = row[3]
        level = row[4]
    }

    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["name"] = name
        container["score"] = score
        container["isActive"] = isActive
        container["level"] = level
    }
}

struct CodablePlayer: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "player"
    var id: Int
    var name: String
    var score: Double
    var isActive: Bool
    var level: Int?

    init(_ player: Player) {
        (id, name, score, isActive, level) = (player.id, player.name, player.score, player.isActive, player.level)
    }
}

func seconds(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    return start.duration(to: .now) / .seconds(1)
}

func measure<Record: FetchableRecord & PersistableRecord>(
    _ label: String, _ work: String, _ records: [Record], _ id: (Record) -> Int
) throws {
    let path = "\(work)/grdb.sqlite"
    for suffix in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    let database = try DatabaseQueue(path: path)
    try database.write { database in
        try database.execute(
            sql: """
                CREATE TABLE player (
                    id INTEGER PRIMARY KEY, name TEXT NOT NULL, score DOUBLE NOT NULL, isActive BOOLEAN NOT NULL, level INTEGER)
                """)
    }
    let count = Double(records.count)
    let saves = try seconds { try database.write { database in for record in records { try record.insert(database) } } }
    print("R\trecords: save, one transaction\tGRDB \(label)\t\(count / saves)\trecords/s")
    var fetched: [Record] = []
    let fetches = try seconds { fetched = try database.read { try Record.fetchAll($0) } }
    guard fetched.count == records.count else { fatalError("GRDB fetched \(fetched.count) records") }
    print("R\trecords: fetch all\tGRDB \(label)\t\(count / fetches)\trecords/s")
    var sum = 0
    let points = try seconds {
        try database.read { database in
            var state: UInt64 = 3
            for _ in records.indices {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                sum += try Record.fetchOne(database, key: Int(state >> 33) % records.count).map(id) ?? 0
            }
        }
    }
    guard sum > 0 else { fatalError("GRDB found no record") }
    print("R\trecords: point read\tGRDB \(label)\t\(count / points)\trecords/s")
}

let work = CommandLine.arguments.count > 1 ? CommandLine.arguments[1] : "."
let count = CommandLine.arguments.count > 2 ? Int(CommandLine.arguments[2]) ?? 100_000 : 100_000
let players = (0..<count).map { Player($0) }
for _ in 0..<3 {
    try measure("hand-written", work, players, \.id)
    try measure("Codable", work, players.map { CodablePlayer($0) }, \.id)
}

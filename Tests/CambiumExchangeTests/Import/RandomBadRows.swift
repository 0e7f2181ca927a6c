import Cambium
import CambiumTesting
import TestFixtures

/// Random rows for a store with few objects. Many of the rows break rules, and most of them concern the objects of other rows.
struct RandomBadRows {
    /// All that an import leaves, as text. The messages are not part of it: they may name the number that a row's object had in one run.
    struct Outcome: Equatable {
        var errors: [Refusal] = []
        /// The error that ended the import; `nil` if the import ended with a report.
        var failure: String?
        var counts: [String] = []
        var objects = ""

        /// Whether an import may have this outcome if it omits the rows together that another import omits one by one. A row that takes
        /// the value of an object from before the import is omitted early, as a duplicate. Without the earlier bad rows, the other import
        /// may find a further mistake of this row first. The other import has a hook, so it checks mandatory values after the whole row. If
        /// such a row has a second mistake, either mistake may be reported.
        func agrees(withOneByOne other: Outcome) -> Bool {
            guard errors.count == other.errors.count, failure == other.failure, counts == other.counts, objects == other.objects else {
                return false
            }
            return zip(errors, other.errors).allSatisfy { own, other in own.row == other.row && own.mayReplace(other.code) }
        }
    }

    struct Refusal: Equatable {
        let row: Int
        let code: ImportReport.RowError.Code

        /// Whether this refusal may stand for the refusal of the same row with another code.
        func mayReplace(_ other: ImportReport.RowError.Code) -> Bool {
            code == other || code == .duplicate || code == .missingMandatory || other == .missingMandatory
        }
    }

    let rows: [String]
    private let schema: Schema
    private let first: [String]
    private let options: ImportOptions

    init(_ random: inout SplitMix64) throws {
        schema = try Schema(Self.definition(&random))
        var options = ImportOptions()
        options.onError = .skip
        if random.isTrue(1, outOf: 4) { options.missing = .clear }
        if random.isTrue(1, outOf: 4) { options.existing = .skip }
        if random.isTrue(1, outOf: 4) { options.toMany = .append }
        if random.isTrue(1, outOf: 2) { options.references = random.pick(ImportOptions.Reference.allCases) ?? .create }
        if random.isTrue(1, outOf: 5) { options.batchRowCount = 5 }
        self.options = options
        let idCount = Int.random(in: 3...20, using: &random)
        first = (0..<4).map { _ in Self.row(&random, idCount) }
        rows = (0..<Int.random(in: 3...14, using: &random)).map { _ in Self.row(&random, idCount) }
    }

    private static func definition(_ random: inout SplitMix64) -> SchemaDefinition {
        let limit: Int? = random.isTrue(1, outOf: 3) ? 2 : nil
        let minimum: Int? = random.isTrue(1, outOf: 4) ? 1 : nil
        var definition = SchemaDefinition {
            EntityDefinition("Team", identity: ["name"]) {
                AttributeDefinition("name", .string)
                RelationshipDefinition("players", to: "Player", .toMany, inverse: "team", min: minimum, max: limit)
            }
            EntityDefinition("Country", identity: ["code"]) {
                AttributeDefinition("code", .string)
                AttributeDefinition("title", .string)
                RelationshipDefinition("players", to: "Player", .orderedToMany, inverse: "country")
                RelationshipDefinition("visitors", to: "Player", .toMany, inverse: "visited")
            }
            EntityDefinition("Card", identity: ["number"]) {
                AttributeDefinition("number", .int64)
                RelationshipDefinition("holder", to: "Player", inverse: "card")
            }
            EntityDefinition("Player", identity: ["id"]) {
                AttributeDefinition("id", .int64)
                AttributeDefinition("mail", .string, .optional)
                RelationshipDefinition("team", to: "Team", inverse: "players", min: 1)
                RelationshipDefinition("country", to: "Country", inverse: "players")
                RelationshipDefinition("visited", to: "Country", .toMany, inverse: "visitors")
                RelationshipDefinition("card", to: "Card", inverse: "holder", min: minimum)
                RelationshipDefinition("friends", to: "Player", .toMany, inverse: "friends")
            }
        }
        if random.isTrue(1, outOf: 2) { definition.entities[3].unique = [["mail"]] }
        let owned = [["team", "mail"], ["country", "mail"], ["mail", "card"], ["country"]]
        if random.isTrue(1, outOf: 3), let set = random.pick(owned) { definition.entities[3].unique.append(set) }
        if random.isTrue(1, outOf: 3) { definition.entities.append(EntityDefinition("Keeper", parent: "Player")) }
        return definition
    }

    // MARK: Rows

    private static func row(_ random: inout SplitMix64, _ idCount: Int, depth: Int = 0) -> String {
        var members = ["\"id\":\(Int.random(in: 0..<idCount, using: &random))"]
        if depth == 0, random.isTrue(1, outOf: 10) { members.append(#""_entity":"Keeper""#) }
        if random.isTrue(1, outOf: 3) { members.append("\"mail\":\(random.pick(["\"a\"", "\"b\"", "\"c\"", "null"]) ?? "null")") }
        if random.isTrue(1, outOf: 2) { members.append("\"team\":\(team(&random, idCount, depth))") }
        if random.isTrue(1, outOf: 2) { members.append("\"country\":\(country(&random, idCount, depth))") }
        if random.isTrue(1, outOf: 5) { members.append("\"visited\":[\(country(&random, idCount, depth))]") }
        if random.isTrue(1, outOf: 4) {
            let number = Int.random(in: 0..<4, using: &random)
            members.append("\"card\":\(random.pick(["\(number)", "{\"number\":\(number)}", "null"]) ?? "null")")
        }
        if random.isTrue(1, outOf: 6) { members.append("\"friends\":[\(Int.random(in: 0..<idCount, using: &random))]") }
        return "{\(members.joined(separator: ","))}"
    }

    private static func team(_ random: inout SplitMix64, _ idCount: Int, _ depth: Int) -> String {
        let name = "\"name\":\"t\(Int.random(in: 0..<3, using: &random))\""
        if depth == 0, random.isTrue(1, outOf: 4) {
            let players = (0..<Int.random(in: 0...2, using: &random)).map { _ in row(&random, idCount, depth: 1) }
            return "{\(name),\"players\":[\(players.joined(separator: ","))]}"
        }
        return random.pick(["\"t1\"", "\"t2\"", "{\(name)}", "null"]) ?? "null"
    }

    private static func country(_ random: inout SplitMix64, _ idCount: Int, _ depth: Int) -> String {
        let code = "\"code\":\"c\(Int.random(in: 0..<4, using: &random))\""
        if depth == 0, random.isTrue(1, outOf: 6) {
            return "{\(code),\"title\":\"c\",\"players\":[\(Int.random(in: 0..<idCount, using: &random))]}"
        }
        return random.pick(["\"c1\"", "\"c2\"", "{\(code)}", "{\(code),\"title\":\"c\"}", "{\(code),\"title\":\"c\"}"]) ?? "null"
    }

    // MARK: Outcome

    /// Imports the rows into a new store.
    func outcome(_ hooks: ImportHooks) -> Outcome {
        var outcome = Outcome()
        do {
            let store = try Store.inMemory(schema: schema)
            let player = try store.schema.required("Player")
            var skipping = ImportOptions()
            skipping.onError = .skip
            _ = try store.importRows(player, from: [Self.source(first)], skipping, hooks: hooks)
            let report = try store.importRows(player, from: [Self.source(rows)], options, hooks: hooks)
            outcome.errors = report.errors.map { Refusal(row: $0.row, code: $0.code) }
            outcome.counts = report.entities.map { "\($0.key): \($0.value)" }.sorted()
            outcome.objects = store.graph.export
        } catch {
            outcome.failure = "\(error)"
        }
        return outcome
    }

    private static func source(_ rows: [String]) -> ImportSource { .bytes(Array(rows.joined(separator: "\n").utf8)) }
}

import Cambium
import CambiumBytes
import CambiumTesting
import TestFixtures
import Testing

/// Rows that break rules at the end of an import that skips errors. The import omits many of them at once, with the outcome that it would
/// have if it omitted them one by one. Docs/Use/IMPORT.md states the exception: rows that assign a unique value of an older object.
@Suite struct RefusedRowsTests {
    private static let definition = SchemaDefinition {
        EntityDefinition("Team", identity: ["name"]) {
            AttributeDefinition("name", .string)
            RelationshipDefinition("players", to: "Player", .toMany, inverse: "team")
        }
        EntityDefinition("Country", identity: ["code"]) {
            AttributeDefinition("code", .string)
            AttributeDefinition("title", .string)
            RelationshipDefinition("players", to: "Player", .toMany, inverse: "country")
        }
        EntityDefinition("Player", identity: ["id"]) {
            AttributeDefinition("id", .int64)
            RelationshipDefinition("team", to: "Team", inverse: "players", min: 1)
            RelationshipDefinition("country", to: "Country", inverse: "players")
        }
        EntityDefinition("Account", identity: ["id"], unique: [["mail"]]) {
            AttributeDefinition("id", .int64)
            AttributeDefinition("mail", .string, .optional)
            RelationshipDefinition("country", to: "Country")
            RelationshipDefinition("office", to: "Office", inverse: "accounts")
        }
        EntityDefinition("Office", identity: ["name"]) {
            AttributeDefinition("name", .string)
            RelationshipDefinition("accounts", to: "Account", .toMany, inverse: "office", max: 100)
        }
        EntityDefinition("Club", identity: ["id"]) {
            AttributeDefinition("id", .int64)
            RelationshipDefinition("guests", to: "Guest", .toMany, inverse: "club", min: 1)
        }
        EntityDefinition("Guest", identity: ["id"]) {
            AttributeDefinition("id", .int64)
            RelationshipDefinition("club", to: "Club", inverse: "guests")
        }
        EntityDefinition("Class", identity: ["name"]) {
            AttributeDefinition("name", .string)
            RelationshipDefinition("pupils", to: "Pupil", .toMany, inverse: "class")
        }
        EntityDefinition("Pupil", identity: ["id"]) {
            AttributeDefinition("id", .int64)
            RelationshipDefinition("class", to: "Class", inverse: "pupils", min: 1)
        }
        EntityDefinition("Monitor", parent: "Pupil")
    }

    /// Imports rows. Returns the report, and how often a row was read.
    private func run(
        _ store: Store, _ entity: String, _ rows: [String], existing: ImportOptions.Existing = .update
    ) throws -> (report: ImportReport, readCount: Int) {
        let readCount = Guarded(0)
        let hooks = ImportHooks(prepare: { _ in readCount.withLock { $0 += 1 } })
        var options = ImportOptions()
        options.onError = .skip
        options.existing = existing
        let source = ImportSource.bytes(Array(rows.joined(separator: "\n").utf8))
        let report = try store.importRows(try store.schema.required(entity), from: [source], options, hooks: hooks)
        return (report, readCount.withLock { $0 })
    }

    /// Rows of which every second one breaks a rule.
    enum Shape: CaseIterable {
        /// New objects lack a mandatory member.
        case lone
        /// Such objects have links to objects that many rows refer to or describe.
        case referring, describing
        /// Existing objects lose a mandatory member.
        case cleared
        /// New objects have the unique value of another new object.
        case duplicate
        /// Such objects have links to objects with a maximum number of members.
        case limited
        /// New objects have links to an object that has its maximum number of members already.
        case crowded
        /// New objects lack members of a to-many relationship, and the other rows contain these members.
        case childless
        /// New objects take the only member of another new object.
        case robbing
        /// Existing objects lose members that must have an owner.
        case dropping

        var entity: String {
            switch self {
            case .lone, .referring, .describing, .cleared: "Player"
            case .duplicate, .limited, .crowded: "Account"
            case .childless, .robbing: "Club"
            case .dropping: "Team"
            }
        }

        func row(_ number: Int) -> String {
            let (isBad, group) = (number % 2 == 0, number % 7)
            let properties: String
            switch self {
            case .lone: properties = isBad ? "" : #","team":"t\#(group)""#
            case .referring: properties = #","country":"c\#(group)""# + (isBad ? "" : #","team":{"name":"t"}"#)
            case .describing: properties = #","country":{"code":"c\#(group)","title":"c"}"# + (isBad ? "" : #","team":"t""#)
            case .cleared: properties = #","team":"# + (isBad ? "null" : "\"t\(group)\"")
            case .duplicate: properties = #","country":"c\#(group)","mail":"m\#(number / 2)""#
            case .limited: properties = #","office":"o\#(group)","mail":"m\#(number / 2)""#
            case .crowded: properties = isBad ? #","office":"o0""# : #","mail":"m\#(number)""#
            case .robbing: properties = #","guests":[\#(number / 2)]"#
            case .dropping: return #"{"name":"t\#(number)","players":[\#(2 * number)\#(isBad ? "" : ",\(2 * number + 1)")]}"#
            case .childless: properties = isBad ? "" : #","guests":[{"id":\#(number)}]"#
            }
            return "{\"id\":\(number)\(properties)}"
        }
    }

    @Test func `the report has the unknown keys of rows that are refused after they were applied`() throws {
        let accounts = [#"{"id":1,"mail":"a","color":1}"#, #"{"id":2,"mail":"a","color":2,"size":3}"#, #"{"id":3,"mail":"a","size":4}"#]
        func store() throws -> Store { try Store.inMemory(schema: Schema(Self.definition)) }
        let plain = try store().importing("Account", accounts.joined(separator: "\n")) { $0.onError = .skip }
        let hooked = try run(try store(), "Account", accounts).report
        for report in [plain, hooked] {
            #expect(report.errors.map(\.row) == [2, 3] && report.unknownKeys == ["color": 2, "size": 2])
        }
        let keys = (0..<300).map { "\"k\($0)\":1" }.joined(separator: ",")
        let long = "{\"id\":1,\"mail\":\"a\"}\n{\"id\":2,\"mail\":\"a\",\(keys)}"
        let report = try store().importing("Account", long) { $0.onError = .skip }
        #expect(report.errors.map(\.row) == [2] && report.counts.inserted == 1)
        #expect(report.unknownKeys.count == 256 && report.unknownKeysLeftOut == 44)
    }

    @Test(arguments: Shape.allCases) func `200 bad rows of 400 are omitted in three runs`(shape: Shape) throws {
        let store = try Store.inMemory(schema: try Schema(Self.definition))
        if case .cleared = shape { _ = try run(store, "Player", (0..<400).map { #"{"id":\#($0),"team":"t"}"# }) }
        if case .dropping = shape {
            let rows = (0..<400).map { #"{"name":"t\#($0)","players":[{"id":\#(2 * $0)},{"id":\#(2 * $0 + 1)}]}"# }
            _ = try run(store, "Team", rows)
        }
        if case .limited = shape { _ = try run(store, "Office", (0..<7).map { #"{"name":"o\#($0)"}"# }) }
        if case .crowded = shape { _ = try run(store, "Account", (1000..<1100).map { #"{"id":\#($0),"office":"o0"}"# }) }
        let (report, readCount) = try run(store, shape.entity, (0..<400).map(shape.row))
        #expect(report.errors.count == 200 && report.rowCount == 400)
        #expect(readCount == 400 + 399 + 200)
        #expect(store.graph.invariantFindings().isEmpty)
    }

    @Test(arguments: [60, 240]) func `a bad row makes all rows before it bad, within a constant number of runs`(count: Int) throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Node", identity: ["id"]) {
                    AttributeDefinition("id", .int64)
                    RelationshipDefinition("leaves", to: "Leaf", .toMany, inverse: "node", min: 1)
                    RelationshipDefinition("previous", to: "Node")
                }
                EntityDefinition("Leaf", identity: ["id"]) {
                    AttributeDefinition("id", .int64)
                    RelationshipDefinition("node", to: "Node", inverse: "leaves")
                }
            })
        let rows = (1...count).map { #"{"id":\#($0),"previous":{"id":\#($0 - 1),"leaves":[\#($0)]}}"# }
        let (report, readCount) = try run(store, "Node", rows + [#"{"id":-1,"leaves":[-1]}"#])
        #expect(report.errors.count == min(count, ImportReport.errorCountMax) && report.counts.inserted == 1)
        #expect(readCount <= 20 * (count + 1))
        #expect(store.graph.invariantFindings().isEmpty)
    }

    /// Imports accounts into a store with an office that may have two accounts. Returns the numbers of the omitted rows, and the office.
    private func runOffice(_ first: [String], _ rows: [String]) throws -> (omitted: [Int], office: String) {
        var definition = Self.definition
        definition["Office"][relationship: "accounts"].maxCount = 2
        let store = try Store.inMemory(schema: try Schema(definition))
        _ = try run(store, "Office", [#"{"name":"o"}"#])
        if !first.isEmpty { _ = try run(store, "Account", first) }
        // The import omits its first bad row alone. Only after that, it determines which rows it may omit together.
        let report = try run(store, "Account", [#"{"id":91,"mail":"x"}"#, #"{"id":92,"mail":"x"}"#] + rows).report
        return (report.errors.map(\.row), try store.graph.json("Office/1"))
    }

    @Test func `a row stays if it adds one member too many only because of another bad row`() throws {
        let rows = [
            #"{"id":3,"mail":"a","office":"o"}"#, #"{"id":4,"mail":"a","office":"o"}"#, #"{"id":5,"office":"o"}"#,
        ]
        let result = try runOffice([], rows)
        #expect(result.omitted == [2, 4])
        #expect(result.office.contains(#""accounts":["Account/2","Account/3"]"#))
    }

    @Test func `a row stays if it adds one member too many only because of a row that takes an old value`() throws {
        let first = [#"{"id":1,"office":"o"}"#, #"{"id":2,"office":"o"}"#, #"{"id":9,"mail":"old"}"#]
        let rows = [#"{"id":3,"office":"o"}"#, #"{"id":4,"mail":"old","office":"o"}"#, #"{"id":1,"office":null}"#]
        let result = try runOffice(first, rows)
        #expect(result.omitted == [2, 4], "an import that omits one row in each pass also omits row 3")
        #expect(result.office.contains(#""accounts":["Account/2","Account/5"]"#))
    }

    @Test func `a row with a member too many stays if a later row removes a member`() throws {
        let first = [#"{"id":1,"office":"o"}"#, #"{"id":2,"office":"o"}"#]
        let rows = [
            #"{"id":5,"office":"o"}"#, #"{"id":6,"office":"o"}"#, #"{"id":1,"office":null}"#, #"{"id":7,"office":"o"}"#,
            #"{"id":8,"office":"o"}"#,
        ]
        let result = try runOffice(first, rows)
        #expect(result.omitted == [2, 3, 6, 7])
        #expect(result.office.contains(#""accounts":["Account/2","Account/4"]"#))
    }

    @Test func `a row stays if only a row with a member too many prevents its value`() throws {
        let first = [#"{"id":1,"office":"o"}"#, #"{"id":2,"office":"o"}"#]
        let rows = [
            #"{"id":3,"office":"o"}"#, #"{"id":4,"mail":"m","office":"o"}"#, #"{"id":5,"office":"o"}"#, #"{"id":7,"mail":"m"}"#,
            #"{"id":6,"office":"o"}"#,
        ]
        let result = try runOffice(first, rows)
        #expect(result.omitted == [2, 3, 4, 5, 7])
        #expect(result.office.contains(#""accounts":["Account/1","Account/2"]"#))
    }

    @Test func `a row that needs an object of a bad row is not omitted before that row`() throws {
        let store = try Store.inMemory(schema: try Schema(Self.definition))
        let rows = [
            #"{"id":1}"#, #"{"id":2,"country":{"code":"es","title":"Spain"}}"#, #"{"id":3,"country":{"code":"es"}}"#,
            #"{"id":4,"team":"a","country":{"code":"es"}}"#,
        ]
        let report = try run(store, "Player", rows).report
        #expect(report.errors.map(\.row) == [1, 2, 3, 4])
        #expect(report.errors.map(\.code) == [.ruleViolated, .ruleViolated, .missingMandatory, .missingMandatory])
    }

    @Test func `a row stays if a row can repair it that another bad row prevents`() throws {
        let store = try Store.inMemory(schema: try Schema(Self.definition))
        // The last row fails as long as a pupil has the identity of the monitor.
        let rows = [#"{"id":1}"#, #"{"id":7}"#, #"{"id":8}"#, #"{"_entity":"Monitor","id":7,"class":{"name":"a","pupils":[8]}}"#]
        let report = try run(store, "Pupil", rows).report
        #expect(report.errors.map(\.row) == [1, 2])
        #expect(try store.graph.json("Class/1").contains(#""pupils":["Pupil/1","Monitor/2"]"#))
    }

    @Test func `a row stays if later rows take its member away, and each of these rows is omitted`() throws {
        let store = try Store.inMemory(schema: try Schema(Self.definition))
        let rows = [#"{"id":1}"#, #"{"id":2,"guests":[9]}"#, #"{"id":3,"guests":[9,8]}"#, #"{"id":4,"guests":[9]}"#]
        let report = try run(store, "Club", rows).report
        #expect(report.errors.map(\.row) == [1, 3, 4])
    }

    @Test func `a row stays if a row with its value skips an object only because of another bad row`() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Account", identity: ["id"], unique: [["mail"]]) {
                    AttributeDefinition("id", .int64)
                    AttributeDefinition("mail", .string, .optional)
                    RelationshipDefinition("country", to: "Country")
                }
                EntityDefinition("Country", identity: ["code"]) {
                    AttributeDefinition("code", .string)
                    RelationshipDefinition("capital", to: "City")
                }
                EntityDefinition("City", identity: ["name"]) {
                    AttributeDefinition("name", .string)
                    RelationshipDefinition("region", to: "Region", min: 1)
                }
                EntityDefinition("Region", identity: ["name"]) { AttributeDefinition("name", .string) }
            })
        _ = try run(store, "Account", [#"{"id":1,"country":"es"}"#])
        // The third row completes the stub, so the fourth row skips the country. Otherwise, the fourth row would add a city without region.
        let rows = [
            #"{"id":2,"mail":"a"}"#, #"{"id":3,"mail":"a"}"#, #"{"id":4,"mail":"a","country":{"code":"es"}}"#,
            #"{"id":5,"mail":"b","country":{"code":"es","capital":{"name":"m"}}}"#, #"{"id":6,"mail":"b"}"#,
        ]
        let report = try run(store, "Account", rows, existing: .skip).report
        #expect(report.errors.map(\.row) == [2, 3, 4])
    }

    @Test func `a row stays if another bad row keeps a later row from replacing its value`() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Account", identity: ["id"], unique: [["mail"]]) {
                    AttributeDefinition("id", .int64)
                    AttributeDefinition("mail", .string, .optional)
                    RelationshipDefinition("pupil", to: "Pupil")
                }
                EntityDefinition("Pupil", identity: ["id"]) { AttributeDefinition("id", .int64) }
                EntityDefinition("Monitor", parent: "Pupil")
            })
        _ = try run(store, "Account", [#"{"id":1,"mail":"a"}"#])
        // The last row fails as long as a pupil has the identity of the monitor.
        let rows = [
            #"{"id":2,"mail":"a","pupil":{"id":7}}"#, #"{"id":3,"mail":"a"}"#,
            #"{"id":3,"mail":"b","pupil":{"_entity":"Monitor","id":7}}"#,
        ]
        let report = try run(store, "Account", rows).report
        #expect(report.errors.map(\.row) == [1])
        #expect(try store.graph.json("Account/2").contains(#""mail":"b","pupil":"Monitor/1""#))
    }

    @Test(arguments: UInt64(1)...UInt64(LongTests.caseCount(5000, usual: 40)))
    func `rows that are omitted together are the rows that are omitted one by one`(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let sample = try RandomBadRows(&generator)
        // A hook may read anything, so an import with this hook omits the rows one by one.
        let slow = sample.outcome(ImportHooks(finish: { _, _, _ in }))
        let fast = sample.outcome(ImportHooks())
        #expect(fast.agrees(withOneByOne: slow), "\(fast) \(slow) seed \(seed): \(sample.rows.joined(separator: "\n"))")
    }
}

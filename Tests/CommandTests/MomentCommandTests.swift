import Cambium
import Synchronization
import Testing

/// Commands with days and times, on a store whose transactions have known times.
@Suite struct MomentCommandTests {
    private final class Clock: Sendable {
        let time = Mutex(Timestamp.min)

        func set(_ text: String) throws {
            let next = try #require(Timestamp(text))
            time.withLock { $0 = next }
        }
    }

    /// The time and the new title of each transaction after the first one.
    private static let titles = [
        ("2026-11-20T23:59:59.999999Z", "A"), ("2026-11-21T00:00:00Z", "B"), ("2026-11-21T14:30:00Z", "C"), ("2026-11-22T08:00:00Z", "D"),
    ]

    /// Returns a workplace with the store `notes`, which has checkpoints of transactions 2 and 4.
    private func place() throws -> Workplace {
        let place = try Workplace()
        let clock = Clock()
        try clock.set("2026-11-19T12:00:00Z")
        let environment = StoreEnvironment(now: { clock.time.withLock { $0 } }, randomBytes: StoreEnvironment.system.randomBytes)
        let schema = try Schema(SchemaDefinition(json: Array(Workplace.notes.utf8)))
        let store = try Store.create(at: place.path("notes"), schema: schema, environment: environment)
        for (index, (text, title)) in Self.titles.enumerated() {
            try clock.set(text)
            try store.write { transaction in
                if index == 0 {
                    _ = try transaction.insert("Note", ["id": .int(1), "title": .string(title)])
                } else {
                    try transaction.set(
                        ObjectID(root: try transaction.schema.required("Note").root, serial: 1), "title", to: .string(title))
                }
            }
            if index % 2 == 0 { _ = try store.checkpoint() }
        }
        try store.close()
        return place
    }

    @Test func `the log reports the longest possible lag of the clock`() throws {
        let place = try Workplace()
        let clock = Clock()
        // A store refuses a clock that is later than this.
        clock.time.withLock { $0 = Timestamp(microsecondsSince1970: 3_345_073_200_000_000) }
        let environment = StoreEnvironment(now: { clock.time.withLock { $0 } }, randomBytes: StoreEnvironment.system.randomBytes)
        let schema = try Schema(SchemaDefinition(json: Array(Workplace.notes.utf8)))
        let store = try Store.create(at: place.path("notes"), schema: schema, environment: environment)
        clock.time.withLock { $0 = .min }
        try store.write { try $0.insert("Note", ["id": .int(1)]) }
        try store.close()
        let outcome = try place.runWithoutWaiting(["log", "notes", "--from", "2", "--json"])
        #expect(outcome.code == 0 && outcome.output.contains(#""clockLagMicroseconds":9226717110054775808"#), "\(outcome)")
    }

    @Test func `statistics count the objects of a moment`() throws {
        let place = try place()
        func counts(_ arguments: String...) throws -> [Int?] {
            let outcome = try place.runWithoutWaiting(["stats", "notes", "--json"] + arguments)
            #expect(outcome.code == 0, "\(outcome.errors)")
            return try ["objects", "transactions", "checkpoints"].map { try outcome.json.first?[$0] as? Int }
        }
        #expect(try counts("--at", "1") == [0, 1, 2])
        #expect(try counts("--at", "2026-11-20") == [1, 2, 2])
        #expect(try counts() == [1, 5, 2])
        #expect(try place.runWithoutWaiting(["stats", "notes", "--at", "9"]).code == 66)
    }

    private func numbers(_ place: Workplace, _ arguments: String...) throws -> [Int] {
        let outcome = try place.runWithoutWaiting(["log", "notes", "--json"] + arguments)
        #expect(outcome.code == 0, "\(outcome.errors)")
        return try outcome.json.compactMap { $0["transaction"] as? Int }
    }

    @Test func `the log of a moment ends with its last transaction`() throws {
        let place = try place()
        #expect(try numbers(place, "--at", "2026-11-20") == [1, 2])
        #expect(try numbers(place, "--at", "4", "--from", "3") == [3, 4])
        #expect(try place.runWithoutWaiting(["log", "notes", "--at", "9"]).code == 66)
        #expect(try place.runWithoutWaiting(["log", "notes", "--at", "label:none"]).code == 66)
        #expect(try place.runWithoutWaiting(["log", "notes", "--at", "2", "--to", "3"]).code == 64)
        #expect(try place.runWithoutWaiting(["log", "notes", "--at", "2", "--follow"]).code == 64)
    }

    @Test func `a log that is followed ends after a moment that has passed`() throws {
        let place = try Workplace()
        let environment = StoreEnvironment(
            now: { Timestamp(microsecondsSince1970: 0) }, randomBytes: StoreEnvironment.system.randomBytes)
        let schema = try Schema(SchemaDefinition(json: Array(Workplace.notes.utf8)))
        try Store.create(at: place.path("notes"), schema: schema, environment: environment).close()
        #expect(try numbers(place, "--follow", "--to", "1970-01-02") == [1])
        #expect(try numbers(place, "--follow", "--to", "1969-12-31") == [])
        #expect(try numbers(place, "--follow", "--to", "1") == [1])
    }

    @Test func `the state of a day is the state at its end`() throws {
        let place = try place()
        for (moment, title) in [
            ("2026-11-20", "A"), ("2026-11-21", "C"), ("2026-11-22", "D"), ("2026-11-21T14:30", "C"), ("2026-11-21T14:29:59.5", "B"),
            ("2026-11-21T15:29+01:00", "B"), ("2026-11-21 00:00", "B"),
        ] {
            let shown = try place.run("show", "notes", "Note/1", "--json", "--at", moment)
            #expect(try shown.json.first?["title"] as? String == title, "\(moment): \(shown.errors)")
            #expect(try place.run("find", "notes", "Note", "--count", "--at", moment).output == "1\n")
        }
        let early = try place.run("show", "notes", "Note/1", "--at", "2026-11-18")
        #expect(early.code == 66 && early.errors.contains("after 2026-11-18T23:59:59.999999Z"), "\(early.errors)")
        #expect(try place.run("show", "notes", "Note/1", "--at", "2026-11-19").code == 66)
    }

    @Test func `diff, label and restore take days`() throws {
        let place = try place()
        let row = try #require(try place.run("diff", "notes", "2026-11-20", "2026-11-21", "--json").json.first)
        let title = (row["attributes"] as? [String: Any])?["title"] as? [String: Any]
        #expect(title?["before"] as? String == "A" && title?["after"] as? String == "C")
        #expect(try place.run("restore", "notes", "copy", "--at", "2026-11-20", "--json").json.first?["transaction"] as? Int == 2)
        #expect(try place.run("label", "notes", "friday", "2026-11-21", "--json").json.first?["transaction"] as? Int == 4)
        #expect(try place.run("show", "notes", "Note/1", "--at", "label:friday").output.contains("C"))
        let unnamed = try place.run("label", "notes", "--move")
        #expect(unnamed.code == 64 && unnamed.output.isEmpty && unnamed.errors.contains("there is no name"), "\(unnamed.errors)")
    }

    @Test func `log lists the transactions between two moments of any form`() throws {
        let place = try place()
        #expect(try numbers(place, "--from", "2026-11-21") == [3, 4, 5])
        #expect(try numbers(place, "--to", "2026-11-21") == [1, 2, 3, 4])
        #expect(try numbers(place, "--from", "2026-11-21", "--to", "2026-11-21") == [3, 4])
        #expect(try numbers(place, "--from", "2026-11-21T14:30", "--to", "now") == [4, 5])
        #expect(try numbers(place, "--from", "0", "--to", "18446744073709551615") == [1, 2, 3, 4, 5])
        #expect(try numbers(place, "--from", "9", "--to", "9") == [] && numbers(place, "--from", "2027-01-01") == [])
        #expect(try place.run("label", "notes", "friday", "2026-11-21").code == 0)
        #expect(try numbers(place, "--from", "label:friday", "--to", "5") == [4, 5])
        #expect(try numbers(place, "--from", "label:friday", "--to", "2") == [])
        #expect(try numbers(place, "--from", "3", "--to", "label:friday") == [3, 4])
        let unknown = try place.run("log", "notes", "--from", "label:monday")
        #expect(unknown.code == 66 && unknown.errors.contains("no label 'monday'") && unknown.output.isEmpty)
    }

    @Test func `a followed log ends with the day of its last moment`() throws {
        let place = try place()
        #expect(try numbers(place, "--follow", "--to", "2026-11-21") == [1, 2, 3, 4])
        #expect(try numbers(place, "--follow", "--from", "2026-11-21", "--to", "4") == [3, 4])
    }

    @Test func `a compaction since a day keeps all of that day`() throws {
        let place = try place()
        for (day, firstMoment) in [("2026-11-20", 1), ("2026-11-21", 2), ("2026-11-22", 4)] {
            let report = try place.run("compact", "notes", "--retain", "since:\(day)", "--dry-run", "--json")
            #expect(try report.json.first?["firstMoment"] as? Int == firstMoment, "\(day): \(report.output)\(report.errors)")
        }
    }

    @Test func `today and now have the newest state`() throws {
        let place = try Workplace.withStore()
        #expect(try place.run("insert", "notes", "Note", "id=1", "title=Paris").code == 0)
        for moment in ["today", "now"] {
            #expect(try place.run("show", "notes", "Note/1", "--at", moment).output.contains("Paris"), "\(moment)")
        }
        let refused = try place.run("show", "notes", "Note/1", "--at", "tomorrow")
        #expect(refused.code == 64 && refused.errors.contains("'tomorrow'") && refused.errors.contains("a day, or label:NAME"))
    }
}

import CambiumTesting
import Foundation
import Testing

@testable import CambiumCommand

@Suite struct ChangesCommandTests {
    private func rows(_ place: Workplace, _ arguments: String...) throws -> [[String: Any]] {
        let outcome = try place.run(executable: Workplace.binary, ["changes", "notes"] + arguments)
        #expect(outcome.code == 0, "\(outcome.errors)")
        return try outcome.json
    }

    @Test func `each line is a transaction with the rows of a diff`() throws {
        let place = try HistoryCommandTests.workplace()
        let output = try place.run("changes", "notes", "--from", "3", "--to", "3", "--json").output
        let time = try #require(rows(place, "--from", "3", "--to", "3")[0]["time"] as? String)
        #expect(
            output == """
                {"transaction":3,"time":"\(time)","actor":"jane","changes":[{"_id":"Note/1","change":"changed",\
                "attributes":{"title":{"before":"a","after":"b"}},"relationships":{}}]}

                """)
        let all = try rows(place, "--from", "1")
        #expect(all.compactMap { $0["transaction"] as? Int } == Array(1...6))
        let diff = try place.run("diff", "notes", "5", "6", "--json").json
        #expect((all[5]["changes"] as? [[String: Any]]).map { $0 as NSArray } == diff as NSArray)
        #expect(all[0]["schema"] != nil && all[1]["schema"] == nil)
    }

    @Test func `a consumer continues by number, and transactions without shown objects are omitted`() throws {
        let place = try HistoryCommandTests.workplace()
        #expect(try rows(place, "--from", "6").count == 1 && rows(place, "--from", "7").isEmpty)
        #expect(try rows(place, "--from", "1", "--entity", "Item").compactMap { $0["transaction"] as? Int } == [2, 4, 6])
        #expect(try place.run("changes", "notes", "--from", "8").code == 66)
        #expect(try place.run("changes", "notes").code == 64)
        #expect(try place.run("changes", "notes", "--from", "1", "--to", "9").code == 66)
    }

    @Test func `a reader whose transactions were retired gets the oldest number, and a snapshot`() throws {
        let place = try HistoryCommandTests.workplace()
        #expect(try place.run("checkpoint", "notes").code == 0)
        #expect(try place.run("set", "notes", "Note/2", "title=d").code == 0)
        #expect(try place.run("checkpoint", "notes").code == 0)
        #expect(try place.run("compact", "notes", "--retain", "since:6").code == 0)
        let outcome = try place.run("changes", "notes", "--from", "3")
        #expect(outcome.code == 66 && outcome.output.isEmpty && outcome.errors.contains("gone, the oldest is 7"), "\(outcome.errors)")
        #expect(try place.run("changes", "notes", "--from", "3", "--follow").code == 66)
        let found = try rows(place, "--from", "7", "--snapshot", "--entity", "Note")
        #expect(found.compactMap { $0["transaction"] as? Int } == [6, 7] && found[0]["snapshot"] as? Bool == true)
        let reads = try rows(place, "--from", "7", "--snapshot", "--format", "debezium").compactMap { $0["op"] as? String }
        #expect(reads == ["r", "r", "r", "r", "r", "r", "u"])
    }

    @Test func `Debezium's lines have the states, the operation and the counts of the transaction`() throws {
        let lines = try rows(HistoryCommandTests.workplace(), "--from", "6", "--format", "debezium")
        #expect(lines[0]["status"] as? String == "BEGIN" && lines[0]["id"] as? String == "6" && lines[0]["event_count"] is NSNull)
        #expect(lines.dropFirst().dropLast().compactMap { $0["op"] as? String } == ["d", "d", "u", "u"])
        #expect((lines[1]["before"] as? [String: Any])?["_id"] as? String == "Note/1" && lines[1]["after"] is NSNull)
        let source = try #require(lines[3]["source"] as? [String: Any])
        #expect(source["table"] as? String == "Memo" && source["txId"] as? Int == 6 && source["connector"] as? String == "cambium")
        let order = try #require(lines[4]["transaction"] as? [String: Any])
        #expect(order["id"] as? String == "6" && order["total_order"] as? Int == 4 && order["data_collection_order"] as? Int == 2)
        #expect(lines[5]["status"] as? String == "END" && lines[5]["event_count"] as? Int == 4)
        #expect((lines[5]["data_collections"] as? [[String: Any]])?.last?["event_count"] as? Int == 2)
    }

    @Test func `CloudEvents have ids of the transaction, and an event that ends it`() throws {
        let lines = try rows(HistoryCommandTests.workplace(), "--from", "6", "--format", "cloudevents")
        #expect(lines.compactMap { $0["id"] as? String } == ["6-1", "6-2", "6-3", "6-4", "6-end"])
        for line in lines { #expect(line["specversion"] as? String == "1.0" && line["source"] as? String == "/stores/notes") }
        #expect(lines[0]["type"] as? String == "cambium.object.deleted" && lines[0]["subject"] as? String == "Note/1")
        #expect((lines[0]["data"] as? [String: Any])?["change"] as? String == "deleted" && lines[0]["time"] is String)
        #expect((lines[4]["data"] as? [String: Any])?["count"] as? Int == 4)
    }

    /// Debian's server, if it is installed, runs only for this test.
    @Test(.enabled(if: LongTests.areWanted))
    func `a database that is fed equals the store, however often the feeder is killed`() throws {
        let place = try Workplace.withStore()
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let paths = ["Tests/python/feed_postgres.py", "Docs/Feed/feed.py"].map { root.appending(path: $0).path }
        let outcome = try place.run(
            executable: URL(filePath: "/usr/bin/env"), ["python3", paths[0], Workplace.binary.path, paths[1], "notes", "50"])
        #expect(outcome.code == 0 && outcome.output.wholeMatch(of: /(equal [1-9][0-9]*|missing)\n/) != nil, "\(outcome)")
    }

    // MARK: Replay

    @Test func `a replay shows each transaction, and finds the first one after which a condition holds`() throws {
        let place = try HistoryCommandTests.workplace()
        let all = try place.run("replay", "notes", "--from", "3", "--to", "5", "--json").json
        #expect(all.compactMap { $0["transaction"] as? Int } == [3, 4, 5])
        for (arguments, method) in [([], "scan"), (["--bisect"], "bisection")] {
            let words = ["replay", "notes", "--until", #"title == "c""#, "--entity", "Note", "--json"] + arguments
            let found = try place.run(executable: Workplace.binary, words).json
            #expect(found.count == 1 && found[0]["transaction"] as? Int == 5 && found[0]["method"] as? String == method)
            #expect(found[0]["objects"] as? [String] == ["Note/2"] && (found[0]["changes"] as? [Any])?.count == 1)
        }
    }

    @Test func `a condition holds through relationships, and after a deletion of other objects`() throws {
        let place = try HistoryCommandTests.workplace()
        func found(_ condition: String, _ more: String...) throws -> Int? {
            let words = ["replay", "notes", "--until", condition, "--json"] + more
            return try place.run(executable: Workplace.binary, words).json.first?["transaction"] as? Int
        }
        #expect(try found(#"note.title == "b""#) == 3)
        #expect(try found("note == null", "--entity", "Memo") == 6)
        #expect(try found("id == 1", "--from", "4") == 4)
        #expect(try found("memos.@count == 2 and id == $i", "--set", "i=3") == 4)
        let missed = try place.run("replay", "notes", "--until", "id == 77")
        #expect(missed.code == 1 && missed.errors.contains("No object satisfies the condition of --until after any of the transactions"))
        #expect(try place.run("replay", "notes", "--until", "price > 1").code == 65)
        #expect(try place.run("replay", "notes", "--bisect").code == 64)
        #expect(try place.run("replay", "notes", "--step", "--from", "6").output.hasPrefix("6  "))
    }

    @Test func `a condition that held before the range, or ceased to hold before its end, is reported as such`() throws {
        let place = try HistoryCommandTests.workplace()
        let held = try place.run("replay", "notes", "--until", "id == 1", "--from", "4")
        #expect(held.output.hasPrefix("4  ") && held.output.contains("\nIt already held before this transaction, with which the range"))
        #expect(try place.run("replay", "notes", "--until", "id == 1", "--from", "4", "--json").json[0]["heldBefore"] as? Bool == true)
        #expect(try place.run("replay", "notes", "--until", "id == 1", "--json").json[0]["heldBefore"] == nil)
        let ceased = try place.run("replay", "notes", "--until", "id == 1", "--bisect")
        #expect(ceased.code == 1 && ceased.errors.contains("After transaction 6, no object satisfies the condition"))
        #expect(ceased.errors.contains("--bisect examined only this moment."))
    }

    // MARK: Moments

    @Test func `every command that reads takes a moment`() throws {
        let groups = CambiumCommand.configuration.groupedSubcommands.filter { ["Reading", "Audit"].contains($0.name) }
        let names = groups.flatMap(\.subcommands).compactMap { $0.configuration.commandName } + ["schema"]
        #expect(names.count == 14)
        let place = try Workplace()
        for name in names {
            // Both arguments of diff are moments.
            if name == "diff" { continue }
            #expect(try place.run(name, "--help").output.contains("--at"), "\(name)")
        }
    }
}

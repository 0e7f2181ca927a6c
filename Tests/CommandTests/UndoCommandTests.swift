import Foundation
import Testing

@Suite struct UndoCommandTests {
    /// Returns a store in which transaction 2 inserted Note/1 with an item, transaction 3 set its title, and transaction 4 deleted it.
    private func workplace() throws -> Workplace {
        try Workplace.copy {
            let place = try Workplace.withStore()
            let row = #"{"id":1,"title":"a","items":[{"name":"x"}],"memos":[{"text":"m"},{"text":"n"}]}"#
            #expect(try place.run("import", "notes", "Note", "-", "--actor", "importer", input: row).code == 0)
            #expect(try place.run("set", "notes", "Note/1", "title=b", "--actor", "jane", "--request", "r1").code == 0)
            #expect(try place.run("delete", "notes", "Note/1", "--message", "obsolete").code == 0)
            return place
        }
    }

    @Test func `an undo prints its transaction, and the deleted object is back with its links`() throws {
        let place = try workplace()
        #expect(try place.run("undo", "notes", "4", "--json").output == #"{"transaction":5,"undone":[4]}"# + "\n")
        let note = try place.run("show", "notes", "Note/1", "--json").output
        #expect(note.contains(#""title":"b""#) && note.contains(#""items":["Item/1"],"memos":["Memo/1","Memo/2"]"#), "\(note)")
        #expect(try place.run("log", "notes", "--from", "5").output.contains("undo of transaction 4: obsolete"))
        #expect(try place.run("undo", "notes", "2..5", "--json").output == #"{"transaction":6,"undone":[2,3,4,5]}"# + "\n")
        #expect(try place.run("find", "notes", "Item", "--count", "--json").output == #"{"count":0}"# + "\n")
        #expect(try place.run("verify", "notes").code == 0)
    }

    @Test func `conflicts give exit code 1 with both values, and nothing is written`() throws {
        let place = try workplace()
        #expect(try place.run("undo", "notes", "4").code == 0)
        #expect(try place.run("set", "notes", "Note/1", "title=c").code == 0)
        let refused = try place.run("undo", "notes", "3", "--json")
        let conflict = #"{"_id":"Note/1","attribute":"title","left":"b","now":"c","transaction":3}"#
        #expect(refused.code == 1 && refused.output == #"{"transaction":null,"undone":[],"conflicts":[\#(conflict)]}"# + "\n")
        #expect(refused.errors.contains("Note/1 (1).title: transaction 3 left b, now c"))
        #expect(try place.run("log", "notes", "--json").json.count == 6)
        let forced = try place.run("undo", "notes", "3", "--policy", "force", "--json")
        #expect(forced.code == 0 && forced.output == #"{"transaction":7,"undone":[3],"conflicts":[\#(conflict)]}"# + "\n")
        #expect(try place.run("show", "notes", "Note/1", "--json").output.contains(#""title":"a""#))
    }

    @Test func `a plan shows the changes and writes nothing`() throws {
        let place = try workplace()
        let plan = try place.run("undo", "notes", "4", "--plan", "--json")
        let answer = try #require(try plan.json.first)
        #expect(plan.code == 0 && (answer["changes"] as? [[String: Any]])?.compactMap { $0["_id"] as? String }.contains("Note/1") == true)
        #expect(answer["undone"] as? [Int] == [4] && answer["transaction"] is NSNull && (answer["conflicts"] as? [Any])?.isEmpty == true)
        #expect(try place.run("undo", "notes", "4", "--plan").output.contains("+ Note/1 (1)"))
        let refused = try place.run("undo", "notes", "3", "--plan")
        #expect(refused.code == 1 && refused.output.hasPrefix("The undo of transaction 3 would be refused."))
        #expect(try place.run("log", "notes", "--json").json.count == 4)
    }

    @Test func `transactions are selected by actor or request, and a request of the undo is applied once`() throws {
        let place = try workplace()
        let undo = { try place.run("undo", "notes", "4", "--request", "u1", "--json").output }
        #expect(try undo() == #"{"transaction":5,"undone":[4]}"# + "\n")
        #expect(try undo() == #"{"transaction":5,"undone":[4],"repeated":true}"# + "\n")
        #expect(try place.run("undo", "notes", "--request", "r1", "--json").output == #"{"transaction":6,"undone":[3]}"# + "\n")
        // All transactions are after a day before the store.
        let imports = try place.run("undo", "notes", "--actor", "importer", "--since", "2001-01-01", "--by", "jane", "--json")
        #expect(imports.code == 0 && imports.output == #"{"transaction":7,"undone":[2]}"# + "\n")
        #expect(try place.run("log", "notes", "--from", "7", "--json").json.first?["actor"] as? String == "jane")
    }

    private static let refused: [(arguments: String, code: Int32)] = [
        ("undo notes", 64), ("undo notes x", 64), ("undo notes 4..3", 64), ("undo notes 1", 65), ("undo notes 9", 66),
        ("undo notes --request none", 66), ("undo notes --since 1", 64), ("revert notes Note/1 1", 66), ("revert notes Note/1 99", 66),
        ("revert notes Nothing/1 3", 64),
    ]

    @Test(arguments: refused)
    func `wrong arguments are refused with their exit code`(arguments: String, code: Int32) throws {
        let outcome = try workplace().run(executable: Workplace.binary, arguments.split(separator: " ").map(String.init))
        #expect(outcome.code == code && outcome.output.isEmpty, "\(outcome)")
    }

    @Test func `a revert restores a deleted object as it was`() throws {
        let place = try workplace()
        #expect(try place.run("revert", "notes", "Note/1", "2", "--json").output == #"{"transaction":5}"# + "\n")
        let note = try place.run("show", "notes", "Note/1", "--json").output
        #expect(note.contains(#""title":"a""#), "\(note)")
        let log = try place.run("log", "notes", "--from", "5", "--json").json
        #expect(log.first?["message"] as? String == "revert of Note/1 to transaction 2")
        #expect(try place.run("revert", "notes", "Note:1", "3", "--json").output == #"{"transaction":6}"# + "\n")
        #expect(try place.run("revert", "notes", "Note:1", "3").output == "Note/1: nothing changed\n")
    }
}

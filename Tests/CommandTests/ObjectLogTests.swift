import Cambium
import Foundation
import Testing

@Suite struct ObjectLogTests {
    @Test func `the log of an object that never existed is an error`() throws {
        let place = try Workplace.withStore()
        #expect(try place.run("insert", "notes", "Note", "id=1").code == 0)
        #expect(try place.run("log", "notes", "--object", "Note/1", "--json").json.count == 1)
        for arguments in [["--json"], [], ["--from", "2"], ["--actor", "jane"]] {
            let outcome = try place.run(executable: Workplace.binary, ["log", "notes", "--object", "Note/2"] + arguments)
            #expect(outcome.code == 66 && outcome.output.isEmpty)
            #expect(outcome.errors == "cambium: The object Note/2 never existed. Check the id.\n")
        }
        let filtered = try place.run("log", "notes", "--object", "Note/1", "--actor", "jane")
        #expect(filtered.code == 0 && filtered.output.isEmpty && filtered.errors.isEmpty)
        #expect(try place.run("delete", "notes", "Note/1").code == 0)
        #expect(try place.run("log", "notes", "--object", "Note/1", "--json").json.count == 2)
    }

    @Test func `the log at a moment knows no object and no entity that came later`() throws {
        let place = try Workplace.withStore()
        #expect(try place.run("insert", "notes", "Note", "id=1").code == 0)
        #expect(try place.run("insert", "notes", "Note", "id=2").code == 0)
        for command in [["show", "notes", "Note/2"], ["log", "notes", "--object", "Note/2"]] {
            let outcome = try place.run(executable: Workplace.binary, command + ["--at", "2"])
            #expect(outcome.code == 66 && outcome.output.isEmpty && outcome.errors.contains("Note/2"), "\(command)")
        }
        #expect(try place.run("log", "notes", "--object", "Note/1", "--at", "2", "--json").json.count == 1)
        #expect(try place.run("log", "notes", "--object", "Note/2", "--at", "3", "--json").json.count == 1)
        // --to only selects transactions.
        #expect(try place.run("log", "notes", "--object", "Note/2", "--to", "2").code == 0)
        try place.write(Workplace.notes.replacing(#""Memo": {"#, with: #""Extra": {}, "Memo": {"#), to: "next.json")
        #expect(try place.run("schema", "notes", "--set", "next.json").code == 0)
        #expect(try place.run("log", "notes", "--entity", "Extra").code == 0)
        #expect(try place.run("log", "notes", "--entity", "Extra", "--at", "3").code == 64)
    }

    @Test func `the log of a removed entity includes transactions before the entity was renamed`() throws {
        let place = try Workplace.withStore()
        #expect(try place.run("insert", "notes", "Memo", "text=a").code == 0)
        let renamed = Workplace.notes.replacing(#""Memo": {"#, with: #""Page": {"renamedFrom": "Memo","#)
        try place.write(renamed.replacing(#""to": "Memo""#, with: #""to": "Page""#), to: "renamed.json")
        #expect(try place.run("schema", "notes", "--set", "renamed.json").code == 0)
        try place.write(#"{"entities": {"Other": {}}}"#, to: "other.json")
        #expect(try place.run("schema", "notes", "--set", "other.json").code == 0)
        for selection in [["--entity", "Page"], ["--object", "Page/1"], ["--entity", "Memo", "--object", "Page/1"]] {
            let outcome = try place.run(executable: Workplace.binary, ["log", "notes", "--json"] + selection)
            #expect(outcome.code == 0, "\(outcome.errors)")
            #expect(try outcome.json.compactMap { $0["transaction"] as? Int } == [2], "\(selection)")
        }
        #expect(try place.run("log", "notes", "--object", "Page/1", "--at", "2").code == 64)
    }

    @Test func `the log finds a name that only the schema of the retired transactions has`() throws {
        let place = try Workplace.withStore()
        #expect(try place.run("insert", "notes", "Memo", "text=a").code == 0)
        #expect(try place.run("compact", "notes", "--retain", "since:2").code == 0)
        #expect(try place.run("set", "notes", "Memo/1", "text=b").code == 0)
        try place.write(#"{"entities": {"Other": {}}}"#, to: "other.json")
        #expect(try place.run("schema", "notes", "--set", "other.json").code == 0)
        for selection in [["--entity", "Memo"], ["--object", "Memo/1"]] {
            let outcome = try place.run(executable: Workplace.binary, ["log", "notes", "--json"] + selection)
            #expect(outcome.code == 0, "\(outcome.errors)")
            #expect(try outcome.json.compactMap { $0["transaction"] as? Int } == [3], "\(selection)")
        }
    }

    @Test func `an unknown entity is an error that lists the entities, even if all transactions were retired`() throws {
        let place = try Workplace.withStore()
        #expect(try place.run("compact", "notes", "--retain", "since:1").code == 0)
        for selection in [["--entity", "Nota"], ["--object", "Nota/1"]] {
            let outcome = try place.run(executable: Workplace.binary, ["log", "notes"] + selection)
            #expect(outcome.code == 64 && outcome.errors.contains("Its entities are: Note, Item, Memo."), "\(outcome.errors)")
        }
    }

    @Test func `a log that is followed refuses a name that no schema has`() throws {
        let place = try Workplace.withStore()
        let mistakes: [(option: String, name: String, code: Int32, error: String)] = [
            ("--entity", "Nota", 64, "no entity 'Nota'"), ("--object", "Nota/1", 64, "no entity 'Nota'"),
            ("--object", "Note", 66, "'Note' is not an id"),
        ]
        for (option, name, code, error) in mistakes {
            let command = ["log", "notes", "--follow", "--to", "1", option, name]
            let outcome = try place.run(executable: Workplace.binary, command)
            #expect(outcome.code == code && outcome.output.isEmpty && outcome.errors.contains(error), "\(command)")
        }
        // The object may be created later.
        #expect(try place.run("log", "notes", "--follow", "--to", "1", "--object", "Note/1").code == 0)
    }

    @Test func `the log at a moment does not read later transactions`() throws {
        let place = try Workplace.withStore()
        for (index, title) in ["first", "second", "third"].enumerated() {
            #expect(try place.run("insert", "notes", "Note", "id=\(index)", "title=\(title)").code == 0)
        }
        let name = "notes/log/00000000000000000001.log"
        var bytes = try place.bytes(of: name)
        let second = try #require(bytes.range(of: Data("second".utf8)))
        bytes[second.lowerBound] ^= 1
        try bytes.write(to: place.directory.appending(path: name))
        #expect(try place.run("log", "notes").code == 74)
        let lists: [(options: [String], numbers: [Int])] = [([], [1, 2]), (["--object", "Note/1"], [2])]
        for (options, numbers) in lists {
            let outcome = try place.run(executable: Workplace.binary, ["log", "notes", "--at", "2", "--json"] + options)
            #expect(outcome.code == 0, "\(outcome.errors)")
            #expect(try outcome.json.compactMap { $0["transaction"] as? Int } == numbers)
        }
    }

    @Test func `the log shows the last value of an attribute that an op sets twice`() throws {
        let place = try Workplace.withStore()
        let store = try Store.open(at: place.directory.path + "/notes")
        try store.write { _ = try $0.insert("Note", ["title": "a", "id": 1, "title": "b"]) }
        try store.close()
        let text = try place.run("log", "notes", "--ops", "--from", "2")
        #expect(text.output.contains("insert Note/1 values {\"id\":1,\"title\":\"b\"}"), "\(text.output)")
        let json = try place.run("log", "notes", "--ops", "--from", "2", "--json")
        #expect(json.output.contains("\"values\":{\"id\":1,\"title\":\"b\"}"), "\(json.output)")
    }

    @Test func `the log of an object names the transaction that deleted it by a delete rule or a migration`() throws {
        let place = try Workplace.withStore()
        #expect(try place.run("insert", "notes", "Note", "id=1").code == 0)
        for name in ["a", "b"] { #expect(try place.run("insert", "notes", "Item", "name=\(name)").code == 0) }
        #expect(try place.run("link", "notes", "Note/1", "items", "Item/1").code == 0)
        for number in 2...4 { #expect(try place.run("insert", "notes", "Note", "id=\(number)").code == 0) }
        #expect(try place.run("delete", "notes", "Note/1", "--actor", "jane").code == 0)
        #expect(try place.run("insert", "notes", "Note", "id=5").code == 0)
        let report = "cambium: Transaction 9 deleted Item/1 by a delete rule or a migration.\n"
        let texts: [(options: [String], text: String)] = [
            ([], report), (["--actor", "jane"], report), (["--actor", "joe"], ""), (["--at", "8"], ""), (["--from", "10"], ""),
        ]
        for (options, text) in texts {
            let outcome = try place.run(executable: Workplace.binary, ["log", "notes", "--object", "Item/1"] + options)
            #expect(outcome.code == 0 && outcome.errors == text, "\(options)")
        }
        for object in ["Note/1", "Item/2"] { #expect(try place.run("log", "notes", "--object", object).errors.isEmpty) }
        try place.write(#"{"entities": {"Other": {}}}"#, to: "other.json")
        #expect(try place.run("schema", "notes", "--set", "other.json").code == 0)
        #expect(try place.run("log", "notes", "--object", "Item/2").errors.contains("Transaction 11 deleted Item/2"))
    }

    @Test func `the log of an entity reports retired transactions once`() throws {
        let place = try Workplace.withStore()
        #expect(try place.run("insert", "notes", "Note", "id=1").code == 0)
        #expect(try place.run("compact", "notes", "--retain", "since:2").code == 0)
        let report = "The changes of transactions 1 to 2 were retired, so the log does not show how they changed objects of 'Note'."
        for numbers in [[], [3]] {
            let outcome = try place.run("log", "notes", "--entity", "Note", "--json")
            #expect(outcome.code == 0 && outcome.errors.ranges(of: report).count == 1, "\(outcome.errors)")
            #expect(try outcome.json.compactMap { $0["transaction"] as? Int } == numbers)
            #expect(try place.run("insert", "notes", "Note", "id=\(numbers.count + 2)").code == 0)
        }
        #expect(try place.run("log", "notes").errors.isEmpty)
    }

    @Test func `the log of an object reports retired transactions`() throws {
        let place = try Workplace.withStore()
        #expect(try place.run("insert", "notes", "Note", "id=1").code == 0)
        #expect(try place.run("insert", "notes", "Memo", "text=a").code == 0)
        #expect(try place.run("compact", "notes", "--retain", "since:3").code == 0)
        #expect(try place.run("insert", "notes", "Note", "id=2").code == 0)
        let known = try place.run("log", "notes", "--object", "Note/1", "--json")
        #expect(known.code == 0 && known.output.isEmpty && known.errors.contains("The changes of transactions 1 to 3 were retired"))
        let followed = try place.run("log", "notes", "--object", "Note/1", "--follow", "--to", "2")
        #expect(followed.code == 0 && followed.output.isEmpty && followed.errors.contains("transactions 1 to 2 were retired"))
        let named = try place.run("log", "notes", "--object", "Note/2", "--json")
        #expect(try named.code == 0 && named.json.count == 1 && named.errors.contains("retired"))
        let unknown = try place.run("log", "notes", "--object", "Note/9")
        #expect(unknown.code == 66 && unknown.errors.contains("retired"))
    }
}

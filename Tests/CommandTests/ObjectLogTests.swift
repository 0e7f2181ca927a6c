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

    @Test func `the log of an object reports retired transactions`() throws {
        let place = try Workplace.withStore()
        #expect(try place.run("insert", "notes", "Note", "id=1").code == 0)
        #expect(try place.run("insert", "notes", "Memo", "text=a").code == 0)
        #expect(try place.run("compact", "notes", "--retain", "since:3").code == 0)
        #expect(try place.run("insert", "notes", "Note", "id=2").code == 0)
        let known = try place.run("log", "notes", "--object", "Note/1", "--json")
        #expect(known.code == 0 && known.output.isEmpty && known.errors.contains("The changes of transactions 1 to 3 were retired"))
        let named = try place.run("log", "notes", "--object", "Note/2", "--json")
        #expect(try named.code == 0 && named.json.count == 1 && named.errors.contains("retired"))
        let unknown = try place.run("log", "notes", "--object", "Note/9")
        #expect(unknown.code == 66 && unknown.errors.contains("retired"))
    }
}

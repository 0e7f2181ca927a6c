import CambiumTesting
import Foundation
import Testing

@Suite struct ReportCommandTests {
    /// Returns a store with an import, a clone, a deletion, an undo, and texts that would be markup.
    private func workplace() throws -> Workplace {
        try Workplace.copy {
            let place = try Workplace.withStore()
            let row = #"{"id":1,"title":"<b>&\"x","items":[{"name":"</td>"}]}"#
            #expect(try place.run("import", "notes", "Note", "-", "--actor", "<script>", input: row).code == 0)
            #expect(try place.run("clone", "notes", "Note/1", "--set", "id=2").code == 0)
            #expect(try place.run("delete", "notes", "Note/1", "--message", "\u{1B}[2Jgone").code == 0)
            #expect(try place.run("undo", "notes", "4", "--actor", "jane").code == 0)
            return place
        }
    }

    private func page(_ place: Workplace, _ arguments: String...) throws -> String {
        let outcome = try place.run(executable: Workplace.binary, ["report", "notes"] + arguments + ["--to", "r.html", "--json"])
        #expect(outcome.code == 0 && outcome.output == #"{"file":"r.html"}"# + "\n", "\(outcome)")
        return String(decoding: try place.bytes(of: "r.html"), as: UTF8.self)
    }

    @Test func `a report has the timeline, changes, actors, clones and the proof, and no script or request`() throws {
        let html = try page(workplace())
        for part in [
            "<!DOCTYPE html>", "<html lang=\"en\">", "id=\"proof\"", "id=\"actors\"", "id=\"timeline\"", "id=\"changes\"", "id=\"clones\"",
            "<main", "<nav", "<header>", "<footer>", "Verified.", "undoes 4", "copied in 3", ", a copy of Note/1 (1)",
            "The store has signed none.", "prefers-color-scheme:dark", "@media print",
        ] { #expect(html.contains(part), "\(part)") }
        for part in ["<script", "http:", "https:", "src=", "url(", "@import", "\u{1B}", "<b>&\"x"] {
            #expect(!html.contains(part), "\(part)")
        }
        #expect(html.contains("&lt;script&gt;") && html.contains("&lt;b&gt;&amp;&quot;x") && html.contains("&lt;/td&gt;"))
    }

    @Test func `the elements of a report are nested, headings are in order, and header cells have a scope`() throws {
        let html = try page(workplace())
        var open: [String] = []
        for match in html.matches(of: /<(\/?)([a-zA-Z0-9]+)([^>]*)>/) {
            let (isEnd, name) = (!match.1.isEmpty, String(match.2))
            if ["meta", "rect", "line", "path"].contains(name) { continue }
            if isEnd { #expect(open.popLast() == name) } else { open.append(name) }
            if name == "th", !isEnd { #expect(match.3.contains("scope=")) }
        }
        #expect(open.isEmpty)
        let levels = html.matches(of: /<h([1-6])/).compactMap { Int($0.1) }
        #expect(levels.first == 1 && zip(levels, levels.dropFirst()).allSatisfy { $1 <= $0 + 1 })
        let ids = html.matches(of: #/ id="([^"]+)"/#).map { String($0.1) }
        #expect(Set(ids).count == ids.count)
        for match in html.matches(of: /href="#([^"]+)"/) { #expect(ids.contains(String(match.1))) }
    }

    @Test func `a report of one object or of recent transactions leaves out the others`() throws {
        let place = try workplace()
        let ofObject = try page(place, "Note/2")
        #expect(ofObject.contains("Audit report: Note/2 (2)") && !ofObject.contains("id=\"t2\"") && ofObject.contains("id=\"t3\""))
        let recent = try page(place, "--since", "4")
        #expect(recent.contains("id=\"t5\"") && !recent.contains("id=\"t3\"") && recent.contains("the transactions after 4, up to 5"))
        #expect(try place.run("delete", "notes", "Note/2", "--request", "r8").code == 0)
        let deleted = try page(place, "Note:2")
        #expect(deleted.contains("Audit report: Note/2 (2)") && deleted.contains("id=\"t6\"") && deleted.contains("request r8"))
        #expect(try place.run("report", "notes", "Note/9", "--to", "r.html").code == 66)
        #expect(try place.run("report", "notes", "--to", "none/r.html").code == 73)
    }

    @Test func `a report of an actor or up to a moment leaves out the others, and says so`() throws {
        let place = try workplace()
        let early = try page(place, "--at", "3")
        #expect(early.contains("id=\"t3\"") && !early.contains("id=\"t4\"") && early.contains("the transactions 1 to 3"))
        let own = try page(place, "--actor", "jane", "--since", "1")
        #expect(own.contains("id=\"t5\"") && !own.contains("id=\"t3\"") && own.contains("the transactions of jane after 1, up to 5"))
        // All transactions are after a day before the store.
        #expect(try page(place, "--since", "2001-01-01").contains("all transactions, 1 to 5"))
        #expect(try page(place, "Note:2", "--at", "3").contains("id=\"t3\""))
        #expect(try place.run("report", "notes", "--since", "4", "--at", "3", "--to", "r.html").code == 66)
        #expect(try place.run("report", "notes", "--since", "9", "--to", "r.html").code == 66)
    }

    @Test func `a report states the last signed checkpoint, the changes of a schema, and the names of labels`() throws {
        let place = try workplace()
        #expect(try place.run("label", "notes", "end", "--actor", "<x>").code == 0)
        let schema = try place.run("schema", "notes", "--json").output.replacing("\"title\"", with: "\"heading\"")
        #expect(schema.contains("heading"))
        try place.write(schema, to: "next.json")
        let migrated = try place.run("schema", "notes", "--set", "next.json")
        #expect(migrated.code == 0, "\(migrated.errors)")
        #expect(try place.run("sign", "--generate", "example.com/n", "--key", "key").code == 0)
        #expect(try place.run("sign", "notes", "--key", "key", "--to", "note").code == 0)
        #expect(try place.run("set", "notes", "Note/2", "heading=x").code == 0)
        let html = try page(place)
        #expect(html.contains("7 transactions, signed by example.com/n. The log continues it."))
        for part in ["names transaction 5 'end'.</p>", "changes the schema:</p><ul><li>"] {
            #expect(html.contains("This transaction \(part)"), "\(part)")
        }
        try place.write("no note", to: "notes/signed")
        #expect(try page(place).contains("The last signed checkpoint of the store is corrupt"))
    }

    @Test(.enabled(if: LongTests.areWanted))
    func `a report of 10,000 changes leaves out nothing`() throws {
        let place = try Workplace.withStore()
        for word in ["a", "b"] {
            let rows = (1...5000).map { #"{"id":\#($0),"title":"\#(word)\#($0)"}"# }.joined(separator: "\n")
            #expect(try place.run("import", "notes", "Note", "-", "--batch", "5", "--actor", "jane", input: rows).code == 0)
        }
        let outcome = try place.run("report", "notes", "--to", "r.html")
        #expect(outcome.code == 0 && outcome.errors.isEmpty && outcome.output.contains("10,000 changes of objects"), "\(outcome)")
        #expect(try place.bytes(of: "r.html").count <= 4_000_000)
    }

    @Test(.enabled(if: LongTests.areWanted))
    func `a report of 20,000 changes has at most 4 MB, and states what it left out`() throws {
        let place = try Workplace.withStore()
        let rows = (1...20_000).map { #"{"id":\#($0),"title":"title"}"# }.joined(separator: "\n")
        #expect(try place.run("import", "notes", "Note", "-", "--batch", "100", input: rows).code == 0)
        let outcome = try place.run("report", "notes", "--to", "r.html")
        #expect(outcome.code == 0 && outcome.errors.contains("left out"))
        let bytes = try place.bytes(of: "r.html")
        #expect(bytes.count <= 4_000_000)
        // The timeline has no links to sections that were left out.
        let html = String(decoding: bytes, as: UTF8.self)
        let (links, ids) = (html.matches(of: #/href="#t(\d+)"/#), html.matches(of: #/ id="t(\d+)"/#))
        #expect(Set(links.map(\.1)) == Set(ids.map(\.1)))
    }
}

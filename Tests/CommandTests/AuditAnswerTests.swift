import Foundation
import Testing

/// Questions about the past of a store whose schema, actors or log are unusual.
@Suite struct AuditAnswerTests {
    private static let boxes =
        #"{"entities":{"Box":{"identity":["k"],"attributes":{"k":{"type":"string"},"w":{"type":"int16","optional":true}}}}}"#
    private static let owners = #"""
        {"entities":{"O":{"identity":["id"],"attributes":{"id":{"type":"int64"}},"relationships":
        {"parts":{"to":"P","many":true,"inverse":"o","onDelete":"cascade","orphans":"delete"},
        "favs":{"to":"P","many":true,"inverse":"fans"}}},"P":{"attributes":{"n":{"type":"string"}},"relationships":
        {"o":{"to":"O","inverse":"parts"},"fans":{"to":"O","many":true,"inverse":"favs"}}}}}
        """#

    private func workplace(_ schema: String) throws -> Workplace {
        let place = try Workplace()
        try place.write(schema, to: "schema.json")
        #expect(try place.run("init", "s", "--schema", "schema.json").code == 0)
        return place
    }

    private func run(_ place: Workplace, _ line: String) throws -> Workplace.Outcome {
        let outcome = try place.run(executable: Workplace.binary, line.split(separator: " ").map(String.init))
        #expect(outcome.code == 0, "\(line): \(outcome)")
        return outcome
    }

    private func root(_ place: Workplace, _ store: String) throws -> String {
        try #require(try run(place, "verify \(store) --json").json.first?["root"] as? String)
    }

    @Test func `a root of an earlier moment is found in a log that has grown`() throws {
        let place = try workplace(Self.boxes)
        _ = try run(place, "insert s Box k=a")
        _ = try run(place, "backup s fork")
        let early = try root(place, "s")
        _ = try run(place, "insert s Box k=b")
        let late = try root(place, "s")
        #expect(try run(place, "verify s --against \(early)").output.contains("the log had the given root after transaction 2"))
        #expect(try !run(place, "verify s --against \(late)").output.contains("note "))
        _ = try run(place, "insert fork Box k=c")
        let fork = try place.run("verify", "fork", "--against", late, "--json")
        #expect(fork.code == 1 && fork.output.contains(#""ok":false"#) && fork.output.contains("it never had the root \(late)"))
    }

    @Test func `actors and requests differ if their bytes differ`() throws {
        let place = try workplace(Self.boxes)
        let (composed, decomposed) = ("Ren\u{e9}", "Rene\u{301}")
        #expect(try place.run("insert", "s", "Box", "k=a", "--actor", composed, "--request", composed).code == 0)
        #expect(try place.run("insert", "s", "Box", "k=b", "--actor", decomposed, "--request", decomposed).code == 0)
        for selection in ["--actor", "--request"] {
            #expect(try place.run("history", "s", selection, composed, "--json").json.compactMap { $0["transaction"] as? Int } == [2])
        }
        #expect(try place.run("log", "s", "--actor", decomposed, "--json").json.compactMap { $0["transaction"] as? Int } == [3])
        let blame = try place.run("blame", "s", "Box/2", "--ignore", "actor:\(composed)", "--json")
        #expect(try blame.json.allSatisfy { $0["ignored"] == nil })
        #expect(try place.run("report", "s", "--to", "r.html").code == 0)
        let page = String(decoding: try place.bytes(of: "r.html"), as: UTF8.self)
        #expect(page.contains("<dt>Actors</dt><dd>3</dd>"))
        #expect(
            try place.run("undo", "s", "--actor", composed, "--since", "1", "--json").output.hasPrefix(#"{"transaction":4,"undone":[2]"#))
    }

    @Test func `a change without an effect names no transaction`() throws {
        let place = try workplace(Self.boxes)
        _ = try run(place, "insert s Box k=a w=1 --actor jane")
        #expect(try run(place, "set s Box/1 w=1 --json").output == #"{"transaction":null,"id":"Box/1"}"# + "\n")
        #expect(try run(place, "revert s Box/1 2 --json").output == #"{"transaction":null}"# + "\n")
        #expect(try run(place, "set s Box/1 w=1").output == "Box/1: nothing changed\n")
    }

    @Test func `a time in the retired part of the log is retired, as its transactions are`() throws {
        let place = try workplace(Self.boxes)
        _ = try run(place, "insert s Box k=a")
        _ = try run(place, "checkpoint s")
        _ = try run(place, "compact s --retain snapshots:1")
        _ = try run(place, "insert s Box k=b")
        for first in ["1", "2020-01-01T00:00:00Z"] {
            let outcome = try place.run("changes", "s", "--from", first)
            #expect(outcome.code == 66 && outcome.errors.contains("gone, the oldest is 3"), "\(first): \(outcome)")
            #expect(try run(place, "history s --from \(first) --json").output.contains(#""change":"retired""#), "\(first)")
            #expect(try run(place, "history s Box/1 --from \(first) --json").output.contains(#""change":"retired""#), "\(first)")
        }
        for subject in ["", " Box/1"] {
            #expect(try !run(place, "history s\(subject) --from 3 --json").output.contains(#""change":"retired""#), "\(subject)")
        }
    }

    @Test func `a value is proved with the type that it had when it was set`() throws {
        let place = try workplace(Self.boxes)
        _ = try run(place, "insert s Box k=a w=3")
        try place.write(
            Self.boxes.replacing("int16", with: "double").replacing(#""w""#, with: #""weight""#).replacing(
                #""double""#, with: #""double","renamedFrom":"w""#), to: "next.json")
        _ = try run(place, "schema s --set next.json")
        _ = try run(place, "prove s Box/1 weight --to p")
        let checked = try run(place, "check-proof p --root \(root(place, "s")) --json").output
        #expect(checked.contains(#""object":"Box/1","property":"w","value":3,"#), "\(checked)")
        _ = try run(place, "set s Box/1 weight=3.5")
        _ = try run(place, "prove s Box/1 weight --to p")
        #expect(try run(place, "check-proof p --root \(root(place, "s")) --json").output.contains(#""property":"weight","value":3.5,"#))
    }

    @Test func `a history has the names at its end, and a removed property differs from one with its name`() throws {
        func schema(_ attributes: String) -> String {
            #"{"entities":{"A":{"identity":["id"],"attributes":{"id":{"type":"int64"}\#(attributes)}}}}"#
        }
        func attribute(_ name: String, from former: String? = nil) -> String {
            #","\#(name)":{"type":"int64","optional":true\#(former.map { #","renamedFrom":"\#($0)""# } ?? "")}"#
        }
        let place = try workplace(schema(attribute("price") + attribute("net")))
        _ = try run(place, "insert s A id=1 price=100 net=80")
        _ = try run(place, "set s A/1 price=101 --actor jane")
        _ = try run(place, "set s A/1 net=81 --actor bob")
        _ = try run(place, "backup s other")
        try place.write(schema(attribute("old", from: "price") + attribute("price", from: "net")), to: "next.json")
        _ = try run(place, "schema s --set next.json")
        for selection in ["A/1 --attribute price", "--entity A --attribute price", "--entity A --where price=101 --attribute price"] {
            let rows = try run(place, "history s \(selection) --at 4 --json --change changed").json
            #expect(rows.first?["actor"] as? String == "jane" && rows.count == 1, "\(selection): \(rows)")
        }
        #expect(try run(place, "history s A/1 --attribute price --json --change changed").json.contains { $0["actor"] as? String == "bob" })

        try place.write(schema(attribute("net")), to: "next.json")
        _ = try run(place, "schema other --set next.json")
        try place.write(schema(attribute("price", from: "net")), to: "next.json")
        _ = try run(place, "schema other --set next.json")
        let rows = try run(place, "history other A/1 --json --change inserted").output
        #expect(rows.contains(#""price (removed)":{"formerName":"price","before":null,"after":100}"#), "\(rows)")
        #expect(rows.contains(#""price":{"formerName":"net","before":null,"after":80}"#), "\(rows)")
        let removed = try place.run("history", "other", "A/1", "--attribute", "price (removed)", "--json").json
        #expect(removed.count == 3 && removed[1]["actor"] as? String == "jane", "\(removed)")
    }

    @Test func `a revert restores members that an owner shares, and deletes no other object`() throws {
        let place = try workplace(Self.owners.replacing("\n", with: ""))
        for line in ["insert s O id=1", "insert s P n=doc", "link s O/1 favs P/1"] { _ = try run(place, line) }
        let before = try run(place, "export s").output
        for line in ["link s O/1 parts P/1", "insert s P n=new o=O/1", "revert s O/1 4"] { _ = try run(place, line) }
        let after = try run(place, "export s").output
        #expect(before.split(separator: "\n").allSatisfy { after.contains($0) } && after.contains(#""_id":"P/2""#), "\(before)\(after)")
        #expect(try run(place, "verify s").output.hasPrefix("Sound"))
    }

    @Test func `an undo keeps a stub that a later row has filled`() throws {
        let place = try workplace(
            #"{"entities":{"Node":{"identity":["id"],"attributes":{"id":{"type":"int64"}},"#
                + #""relationships":{"tags":{"to":"Tag","many":true}}},"#
                + #""Tag":{"identity":["name"],"attributes":{"name":{"type":"string"}}}}}"#
        )
        #expect(try place.run("import", "s", "Node", "-", input: #"[{"id":1,"tags":["u"]}]"#).code == 0)
        #expect(try place.run("import", "s", "Tag", "-", input: #"[{"name":"u"}]"#).code == 0)
        let refused = try place.run("undo", "s", "2", "--json")
        #expect(
            refused.code == 1 && refused.output.contains(#"{"_id":"Tag/1","left":"stub","now":"present","transaction":2}"#), "\(refused)")
        #expect(try place.run("undo", "s", "2", "--policy", "skip").code == 0)
        #expect(try run(place, "find s Tag --count --json").output == #"{"count":1}"# + "\n")
        #expect(try run(place, "find s Node --count --json").output == #"{"count":0}"# + "\n")
    }

    @Test func `an undo names the present name of an attribute in a conflict`() throws {
        let place = try workplace(Self.boxes)
        _ = try run(place, "insert s Box k=a w=3")
        _ = try run(place, "set s Box/1 w=4")
        try place.write(Self.boxes.replacing(#""w":{"#, with: #""weight":{"renamedFrom":"w","#), to: "next.json")
        _ = try run(place, "schema s --set next.json")
        _ = try run(place, "set s Box/1 weight=5")
        #expect(try place.run("undo", "s", "3", "--json").output.contains(#""attribute":"weight","left":4,"now":5"#))
    }

    @Test func `the history of an object names it as it was named then, with and without an index`() throws {
        let place = try workplace(
            #"{"entities":{"Project":{"identity":["key"],"attributes":{"key":{"type":"string"}}},"Issue":{"identity":["project","number"],"#
                + #""attributes":{"number":{"type":"int64"},"title":{"type":"string","optional":true}},"#
                + #""relationships":{"project":{"to":"Project"}}}}}"#)
        #expect(try place.run("import", "s", "Issue", "-", input: #"[{"project":{"key":"OLD"},"number":1,"title":"a"}]"#).code == 0)
        for line in ["set s Issue/1 title=b", "set s Project/1 key=NEW", "set s Issue/1 title=c"] { _ = try run(place, line) }
        func names() throws -> [String] {
            try run(place, "history s Issue/1").output.split(separator: "\n").filter { $0.contains("title: ") && $0.contains("~") }.map(
                String.init)
        }
        #expect(try names().map { $0.contains("NEW") } == [true, false])
        _ = try run(place, "checkpoint s")
        #expect(try names().map { $0.contains("NEW") } == [true, false])
    }

    @Test func `a report of a corrupt store shows what precedes the first corrupt transaction, and exits with 1`() throws {
        let place = try workplace(Self.boxes)
        for name in ["a", "b", "c"] { _ = try run(place, "insert s Box k=\(name)") }
        let log = place.directory.appending(path: "s/log/00000000000000000001.log")
        var bytes = try Data(contentsOf: log)
        bytes[bytes.count - 10] ^= 1
        try bytes.write(to: log)
        let outcome = try place.run("report", "s", "--to", "r.html")
        #expect(outcome.code == 1, "\(outcome)")
        let page = String(decoding: try place.bytes(of: "r.html"), as: UTF8.self)
        #expect(page.contains("Everything up to transaction 3 is intact") && page.contains("<dt>Transactions</dt><dd>3</dd>"))
    }

    @Test func `a report of a store with corrupt retired transactions, or up to a moment after a corrupt one, has a page`() throws {
        let place = try workplace(Self.boxes)
        for name in ["a", "b"] { _ = try run(place, "insert s Box k=\(name)") }
        _ = try run(place, "checkpoint s")
        _ = try run(place, "backup s compacted")
        for name in ["c", "d"] { _ = try run(place, "insert s Box k=\(name)") }
        _ = try run(place, "checkpoint s")
        _ = try run(place, "compact compacted --retain snapshots:1")
        func flip(_ store: String, at offset: Int) throws {
            let folder = place.directory.appending(path: "\(store)/log")
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".log") }.sorted()
            let log = folder.appending(path: try #require(names.first))
            var bytes = try Data(contentsOf: log)
            bytes[offset < 0 ? bytes.count + offset : offset] ^= 1
            try bytes.write(to: log)
        }
        // The last byte but 40 of the first file is in the last transaction, and byte 120 in the first one.
        _ = try run(place, "backup s first")
        try flip("s", at: -40)
        for moment in [[], ["--at", "5"]] {
            let outcome = try place.run(executable: Workplace.binary, ["report", "s", "--to", "r.html"] + moment)
            #expect(outcome.code == 1, "\(moment): \(outcome)")
        }
        try flip("compacted", at: 120)
        let retired = try place.run("report", "compacted", "--to", "retired.html")
        #expect(retired.code == 1 && retired.output.contains("retired.html"), "\(retired)")
        try flip("first", at: 120)
        let none = try place.run("report", "first", "--to", "none.html")
        #expect(none.code == 74 && none.errors.contains("corrupt"), "\(none)")
    }

    @Test func `the output of sign replaces neither the key nor its memory`() throws {
        let place = try workplace(Self.boxes)
        _ = try run(place, "sign --generate example.com/s --key k")
        _ = try run(place, "sign s --key k --to note")
        let memory = try place.bytes(of: "k.signed")
        for output in ["k", "./k", "k.signed", "../\(place.directory.lastPathComponent)/k.signed", "k.signed.lock"] {
            #expect(try place.run("sign", "s", "--key", "k", "--to", output).code == 64, "\(output)")
            #expect(try place.run("prove", "s", "1", "--key", "k", "--to", output).code == 64, "\(output)")
        }
        #expect(try place.bytes(of: "k.signed") == memory)
        _ = try run(place, "sign s --key k --to note")
    }

    @Test func `events name the store by its directory, and the last one has the change of the schema`() throws {
        let place = try workplace(Self.boxes)
        try place.write(Self.boxes.replacing(#""w":{"#, with: #""weight":{"renamedFrom":"w","#), to: "next.json")
        _ = try run(place, "schema s --set next.json")
        let events = try run(place, "changes ./s/../s/. --from 2 --format cloudevents").json
        #expect(events.count == 1 && events[0]["source"] as? String == "/stores/s", "\(events)")
        #expect((events[0]["data"] as? [String: Any])?["schema"] != nil)
    }
}

import Foundation
import Testing

@Suite struct SchemaCommandTests {
    private func place() throws -> Workplace {
        try Workplace.copy {
            let place = try Workplace.withStore()
            try place.write(#"{"id":1,"title":"Paris","items":[{"name":"a"}],"memos":[{"text":"x"},{"text":"y"}]}"#, to: "note.json")
            #expect(try place.run("import", "notes", "Note", "note.json").code == 0)
            return place
        }
    }

    /// The schema of the workplace with `title` renamed to `name` and with one more attribute.
    private static let renamed = Workplace.notes.replacing(
        #""title": {"type": "string", "default": "", "maxLength": 9}"#,
        with: #""name": {"type": "string", "default": "", "renamedFrom": "title"}, "done": {"type": "bool", "default": false}"#)

    @Test func `a schema is set, reported and read back`() throws {
        let place = try place()
        try place.write(Self.renamed, to: "next.json")
        let outcome = try place.run("schema", "notes", "--set", "next.json", "--actor", "jane", "--message", "names")
        #expect(outcome.code == 0 && outcome.errors == "")
        #expect(outcome.output.hasPrefix("3 changes in transaction 3, "))
        #expect(
            outcome.output.contains("Note.name  renamed, was title")
                && outcome.output.contains("Note.done  added, bool, the default for 1 object"))
        #expect(try place.run("show", "notes", "Note/1").output.contains("name   Paris"))
        let printed = try place.run("schema", "notes", "--json").output
        try place.write(printed, to: "printed.json")
        let again = try place.run("schema", "notes", "--set", "printed.json", "--json")
        let report = try #require(try again.json.first)
        #expect(again.code == 0 && report["transaction"] is NSNull && (report["changes"] as? [Any])?.isEmpty == true)
        #expect(
            try place.run("schema", "notes", "--set", "next.json").output == "The store has this schema already; nothing was written.\n")
    }

    @Test func `a second root moves below a new parent with new ids, as the error advises`() throws {
        let place = try Workplace()
        let links = #""relationships": {"a": {"to": "A"}}"#
        try place.write(#"{"entities": {"A": {}, "B": {\#(links)}}}"#, to: "apart.json")
        try place.write(
            #"{"entities": {"Top": {"abstract": true}, "A": {"parent": "Top"}, "B": {"parent": "Top", \#(links)}}}"#, to: "joined.json")
        for command in ["init s --schema apart.json", "insert s A", "insert s B", "link s B/1 a A/1"] {
            #expect(try place.run(executable: Workplace.binary, command.split(separator: " ").map(String.init)).code == 0)
        }
        let refused = try place.run("schema", "s", "--set", "joined.json")
        #expect(refused.code == 1 && refused.errors.contains("--renew-ids"))
        let preview = try place.run("schema", "s", "--set", "joined.json", "--renew-ids", "--dry-run")
        #expect(preview.code == 0 && preview.output.contains("B    moved to another hierarchy, new ids for 1 object"), "\(preview.output)")
        #expect(try place.run("schema", "s", "--set", "joined.json", "--renew-ids").code == 0)
        #expect(try place.run("export", "s").output == #"{"_id":"A/1"}\#n{"_id":"B/2","a":"A/1"}\#n"#)
        #expect(try place.run("show", "s", "B/1", "--at", "4").code == 0 && place.run("schema", "s", "--renew-ids").code == 64)
    }

    @Test func `setting the same schema with a request names the transaction that records the request`() throws {
        let place = try Workplace.withStore()
        try place.write(Workplace.notes, to: "same.json")
        let preview = try place.run("schema", "notes", "--set", "same.json", "--request", "q1", "--dry-run")
        #expect(preview.output == "The store has this schema already; nothing was written.\n")
        let outcome = try place.run("schema", "notes", "--set", "same.json", "--request", "q1")
        #expect(outcome.output == "The store has this schema already; transaction 2 records the request.\n")
        #expect(try place.run("log", "notes", "--json").json.count == 2)
    }

    @Test func `a moment shows the schema of its time, and the log shows former names`() throws {
        let place = try place()
        try place.write(Self.renamed, to: "next.json")
        #expect(try place.run("schema", "notes", "--set", "next.json").code == 0)
        #expect(try place.run("set", "notes", "Note/1", "name=Rome").code == 0)
        #expect(try place.run("schema", "notes", "--at", "2").output.contains("title"))
        let schema = try place.run("schema", "notes").output
        #expect(!schema.contains("  title") && schema.contains("renamed from title"))
        #expect(try place.run("show", "notes", "Note/1", "--at", "2").output.contains("title  Paris"))
        let log = try place.run("log", "notes", "--ops").output
        #expect(log.contains("schema of Note, Item, Memo") && log.contains("schema 3 changes\n      Note.name renamed, was title"))
        #expect(log.contains(#"set Note/1 (1) values {"name":"Rome"}"#))
        let ops = try place.run("log", "notes", "--ops", "--json").json.compactMap { ($0["ops"] as? [[String: Any]])?.first }
        #expect(ops[2]["op"] as? String == "schema" && (ops[2]["changes"] as? [[String: Any]])?.first?["change"] as? String == "renamed")
        #expect(try place.run("log", "notes", "--json", "--object", "Note/1").json.compactMap { $0["transaction"] as? Int } == [2, 4])
        #expect(try place.run("verify", "notes").code == 0)
    }

    @Test(
        arguments: [
            (["set", "notes", "Note/1", "title=x"], "'Note' has no attribute 'title'. Its name is 'name' now."),
            (["link", "notes", "Note/1", "memos", "Page/1"], "'Note' has no relationship 'memos'. Its name is 'pages' now."),
            (["walk", "notes", "Note/1", "memos"], "No entity has a relationship 'memos'. Its name is 'pages' now."),
            (["find", "notes", "Memo"], "The schema has no entity 'Memo'. Its name is 'Page' now."),
            (["clone", "notes", "Note/1", "--exclude", "memos"], "No entity has a relationship 'memos'. Its name is 'pages' now."),
            (["clone", "notes", "Note/1", "--exclude", "Note.memos"], "'Note' has no relationship 'memos'. Its name is 'pages' now."),
            (
                ["clone", "notes", "Note/1", "--exclude", "Memo.note"],
                "'Memo.note': the schema has no entity 'Memo'. Its name is 'Page' now."
            ),
        ])
    func `an error about a former name states the present name`(arguments: [String], message: String) throws {
        let place = try placeOfPages()
        let outcome = try place.run(executable: Workplace.binary, arguments)
        #expect(outcome.code == 64 && outcome.errors == "cambium: \(message)\n", "\(outcome.errors)")
        let prompt = try place.run("query", "notes", input: "Memo count\n")
        #expect(prompt.errors.contains("'Memo' is neither an entity nor a command. Its name is 'Page' now."), "\(prompt.errors)")
    }

    @Test(
        arguments: [
            ("", "the key 'title' maps to no attribute or relationship. Its name is 'name' now. Nothing"),
            (#"{"entity":"Memo"}"#, "the schema has no entity 'Memo'. Its name is 'Page' now. Correct"),
            (#"{"nested":{"Memo":{}}}"#, "the schema has no entity 'Memo'. Its name is 'Page' now. Correct"),
            (#"{"attributes":{"title":"t"}}"#, "'Note' has no attribute 'title'. Its name is 'name' now. Correct"),
            (#"{"relationships":{"memos":"m"}}"#, "'Note' has no relationship 'memos'. Its name is 'pages' now. Correct"),
            (#"{"identity":["title"]}"#, "'Note' has no attribute 'title'. Its name is 'name' now. Correct"),
        ])
    func `an error of an import about a former name states the present name`(mapping: String, message: String) throws {
        let place = try placeOfPages()
        try place.write(mapping, to: "mapping.json")
        let options = mapping.isEmpty ? ["--unknown", "error"] : ["--mapping", "mapping.json"]
        let outcome = try place.run(executable: Workplace.binary, ["import", "notes", "Note", "note.json"] + options)
        #expect(outcome.code != 0 && outcome.errors.contains(message), "\(outcome.errors)")
    }

    @Test func `a condition with a former name of an entity states the present name`() throws {
        let outcome = try placeOfPages().run("find", "notes", "Page", "--where", #"_entity == "Memo""#)
        #expect(outcome.errors.contains("The schema has no entity 'Memo'. Its name is 'Page' now."), "\(outcome.errors)")
    }

    /// Returns a place with a store in which an entity, an attribute and a relationship have new names.
    private func placeOfPages() throws -> Workplace {
        try Workplace.copy {
            let place = try place()
            let pages = Self.renamed.replacing(#""memos": {"to": "Memo","#, with: #""pages": {"renamedFrom": "memos", "to": "Page","#)
                .replacing(#""Memo": {"#, with: #""Page": {"renamedFrom": "Memo","#).replacing(#""memos""#, with: #""pages""#)
                .replacing(#""renamedFrom": "pages""#, with: #""renamedFrom": "memos""#)
            try place.write(pages, to: "next.json")
            #expect(try place.run("schema", "notes", "--set", "next.json").code == 0)
            return place
        }
    }

    @Test func `an absent default differs from the text none, and a default of true from a flag`() throws {
        func schema(title: String, done: String) -> String {
            #"{"entities": {"Note": {"attributes": {"title": {"type": "string"\#(title)}, "done": {"type": "bool"\#(done)}}}}}"#
        }
        let place = try Workplace()
        try place.write(schema(title: "", done: #", "default": true"#), to: "before.json")
        try place.write(schema(title: #", "default": "none""#, done: ""), to: "after.json")
        #expect(try place.run("init", "notes", "--schema", "before.json").code == 0)
        let preview = try #require(try place.run("schema", "notes", "--set", "after.json", "--dry-run", "--json").json.first)
        let changes = try #require(preview["changes"] as? [[String: Any]])
        #expect(changes.map { $0["after"] as? String } == ["none", nil] && changes.last?["before"] as? Bool == true, "\(changes)")
        let output = try place.run("schema", "notes", "--set", "after.json").output
        #expect(output.contains(#"Note.title  default none -> "none""#) && output.contains("Note.done   default true -> none"), "\(output)")
    }

    @Test func `another order of declaration states which declarations moved`() throws {
        let (a, b) = (#""a": {"type": "bool"}"#, #""b": {"type": "bool"}"#)
        let (c, d) = (#""c": {"to": "Tag"}"#, #""d": {"to": "Tag"}"#)
        let page = #""Page": {}"#
        func schema(_ first: String, _ second: String) -> String { #"{"entities": {\#(first), \#(second)}}"# }
        func tag(_ attributes: String, _ relationships: String) -> String {
            #""Tag": {"attributes": {\#(attributes)}, "relationships": {\#(relationships)}}"#
        }
        let place = try Workplace()
        try place.write(schema(page, tag("\(a), \(b)", "\(c), \(d)")), to: "schema.json")
        #expect(try place.run("init", "notes", "--schema", "schema.json").code == 0)
        func preview(_ next: String) throws -> String {
            try place.write(next, to: "next.json")
            return try place.run("schema", "notes", "--set", "next.json", "--dry-run").output
        }
        let properties = try preview(schema(page, tag("\(b), \(a)", "\(d), \(c)")))
        #expect(properties.contains("  Tag  attributes in another order, relationships in another order\n"), "\(properties)")
        let entity = try preview(schema(tag("\(a), \(b)", "\(c), \(d)"), page))
        #expect(entity.contains("  Tag  declared at another place among the entities\n"), "\(entity)")
    }

    @Test func `losses of moved properties and of entities with another parent are reported`() throws {
        func schema(animal: String = "", pet: String, cat: String, kitten: String = "") -> String {
            #"""
            {"entities": {"Animal": {"attributes": {\#(animal)}}, "Pet": {"parent": "Animal", \#(pet)}, "Cat": {"parent": "\#(cat)"},
             "Kitten": {"parent": "Cat", "attributes": {\#(kitten)}}, "Toy": {}}}
            """#
        }
        let name = #""name": {"type": "string", "optional": true}"#
        let pet = #""attributes": {"owner": {"type": "string", "optional": true}}, "relationships": {"toys": {"to": "Toy", "many": true}}"#
        let place = try Workplace.withStore()
        try place.write(schema(animal: name, pet: pet, cat: "Pet"), to: "animals.json")
        try place.write(schema(pet: pet, cat: "Animal", kitten: name), to: "next.json")
        #expect(try place.run("init", "animals", "--schema", "animals.json").code == 0)
        #expect(try place.run("insert", "animals", "Toy").code == 0)
        #expect(try place.run("insert", "animals", "Pet", "name=Rex", "owner=Ann").code == 0)
        #expect(try place.run("insert", "animals", "Kitten", "name=Tom", "owner=Bob", "toys=Toy/1").code == 0)
        let output = try place.run("schema", "animals", "--set", "next.json", "--dry-run").output
        #expect(output.contains("moved from Animal to Kitten: 1 value would be lost"))
        #expect(output.contains("parent Pet -> Animal, 1 object: 2 values and links would be lost"))
        let report = try #require(try place.run("schema", "animals", "--set", "next.json", "--json").json.first)
        let changes = try #require(report["changes"] as? [[String: Any]])
        #expect(changes.compactMap { $0["lost"] as? Int } == [2, 1])
        #expect(try place.run("verify", "animals").code == 0)
    }

    @Test func `objects that lose a moved property do not count as changed`() throws {
        let before = #""attributes": {"age": {"type": "int16", "optional": true}}, "relationships": {"toys": {"to": "Toy", "many": true}}"#
        let after = before.replacing(#""int16", "optional": true"#, with: #""int64", "default": 7"#)
            .replacing(#""many": true"#, with: #""many": true, "ordered": true"#)
        func schema(animal: String = "", cat: String = "") -> String {
            #"{"entities": {"Animal": {\#(animal)}, "Cat": {"parent": "Animal"\#(cat)}, "Toy": {}}}"#
        }
        let place = try Workplace.withStore()
        try place.write(schema(animal: before), to: "animals.json")
        try place.write(schema(cat: ", " + after), to: "next.json")
        #expect(try place.run("init", "animals", "--schema", "animals.json").code == 0)
        #expect(try place.run("insert", "animals", "Toy").code == 0)
        for entity in ["Animal", "Cat"] {
            #expect(try place.run("insert", "animals", entity, "age=3", "toys=Toy/1").code == 0)
            #expect(try place.run("insert", "animals", entity).code == 0)
        }
        let output = try place.run("schema", "animals", "--set", "next.json").output
        #expect(output.contains("type int16 -> int64, 1 value converted") && output.contains("ordered, 1 link kept"), "\(output)")
        #expect(output.contains("mandatory, the default for 1 object"), "\(output)")
        #expect(try place.run("verify", "animals").code == 0)
    }

    @Test func `an entity that was renamed is found by either name`() throws {
        let place = try place()
        let next = Workplace.notes.replacing(#""Memo": {"#, with: #""Text": { "renamedFrom": "Memo", "#)
            .replacing(#""to": "Memo""#, with: #""to": "Text""#)
        try place.write(next, to: "next.json")
        #expect(try place.run("schema", "notes", "--set", "next.json").code == 0)
        for name in ["Text", "Memo"] {
            #expect(try place.run("log", "notes", "--json", "--entity", name).json.compactMap { $0["transaction"] as? Int } == [2])
        }
        #expect(try place.run("log", "notes", "--entity", "Nothing").code == 64)
    }

    @Test func `a dry run writes nothing and reports the losses`() throws {
        let place = try place()
        let store = place.directory.appending(path: "notes")
        let before = try FileManager.default.subpathsOfDirectory(atPath: store.path).sorted().map {
            try? Data(contentsOf: store.appending(path: $0))
        }
        try place.write(#"{"entities":{"Note":{"attributes":{"id":{"type":"string"}}}}}"#, to: "less.json")
        let outcome = try place.run("schema", "notes", "--set", "less.json", "--dry-run")
        #expect(outcome.code == 1 && outcome.output.contains("the store would refuse this schema, and nothing was written"))
        #expect(outcome.output.contains("Memo") && outcome.output.contains("2 objects would be lost"))
        #expect(outcome.output.contains("NEEDS A PROGRAM: int64 is not converted to string automatically: 1 value would be lost"))
        #expect(outcome.output.contains("Objects were not checked against the new rules"))
        try place.write(Self.renamed, to: "next.json")
        let fine = try place.run("schema", "notes", "--set", "next.json", "--dry-run", "--json")
        #expect(try fine.code == 0 && fine.json.first?["refused"] as? Bool == false)
        #expect(try !place.run("schema", "notes", "--set", "next.json", "--dry-run").output.contains("were not checked"))
        let after = try FileManager.default.subpathsOfDirectory(atPath: store.path).sorted().map {
            try? Data(contentsOf: store.appending(path: $0))
        }
        #expect(before == after)
    }

    @Test func `an inexact conversion names the value and the option that accepts the nearest one, without an identity`() throws {
        let place = try place()
        for type in ["int32", "bool"] {
            try place.write(#"{"entities":{"E":{"attributes":{"x":{"type":"\#(type)"}}}}}"#, to: type + ".json")
        }
        #expect(try place.run("init", "s", "--schema", "int32.json").code == 0)
        #expect(try place.run("insert", "s", "E", "x=7").code == 0)
        let refused = try place.run("schema", "s", "--set", "bool.json")
        let reason = "E/1: 'x' is 7, which has no exact equivalent of type bool; the nearest is true. Change 'x' before the migration, "
        #expect(refused.code == 1 && refused.errors.contains(reason + "or accept the nearest values (--convert)."), "\(refused.errors)")
        #expect(try place.run("schema", "s", "--set", "bool.json", "--dry-run", "--convert").code == 0)
        #expect(try place.run("schema", "s", "--set", "bool.json", "--convert").code == 0)
        #expect(try place.run("find", "s", "E", "--select", "x").output.contains("x: true"))
        #expect(try place.run("schema", "s", "--convert").code == 64)
    }

    @Test func `a refused schema leaves the store as it was and is reported by the exit code`() throws {
        let place = try place()
        let strict = Workplace.notes.replacing(#""when": {"type": "date", "optional": true}"#, with: #""when": {"type": "date"}"#)
        try place.write(strict, to: "strict.json")
        let outcome = try place.run("schema", "notes", "--set", "strict.json")
        #expect(outcome.code == 1 && outcome.errors.contains("Note/1 (1): 'when' must have a value") && outcome.output == "")
        #expect(outcome.errors.contains("Give 'when' a default, or set it before the migration"), "\(outcome.errors)")
        let linked = Workplace.notes.replacing(
            #""relationships": { "items""#, with: #""relationships": { "cover": {"to": "Memo", "min": 1}, "items""#)
        try place.write(linked, to: "linked.json")
        let unlinked = try place.run("schema", "notes", "--set", "linked.json")
        let broken = "Note/1 (1): 'cover' must lead to at least one object"
        #expect(unlinked.code == 1 && unlinked.errors.contains(broken), "\(unlinked.errors)")
        #expect(unlinked.errors.contains("If 'cover' is new, migrate with a minimum of 0 first."), "\(unlinked.errors)")
        let other = Workplace.notes.replacing(#""id": {"type": "int64"}"#, with: #""id": {"type": "uuid"}"#)
        try place.write(other, to: "other.json")
        let needy = try place.run("schema", "notes", "--set", "other.json")
        #expect(needy.code == 1 && needy.errors.contains("Note.id: int64 is not converted to uuid automatically"))
        try place.write("{", to: "bad.json")
        #expect(try place.run("schema", "notes", "--set", "bad.json").code == 65)
        #expect(try place.run("schema", "notes", "--set", "none.json").code == 66)
        #expect(try place.run("schema", "none", "--set", "strict.json").code == 66)
        #expect(try place.run("schema", "notes", "--dry-run").code == 64)
        #expect(try place.run("schema", "notes", "--set", "strict.json", "--at", "1").code == 64)
        #expect(try place.run("log", "notes", "--json").json.count == 2)
    }

    @Test func `an error and a dry run have an example of each rule, even if more objects break one rule than are shown`() throws {
        let place = try Workplace.withStore()
        try place.write((1...25).map { #"{"id":\#($0)}"# }.joined(separator: "\n"), to: "notes.json")
        #expect(try place.run("import", "notes", "Note", "notes.json").code == 0)
        let strict = Workplace.notes
            .replacing(#""when": {"type": "date", "optional": true}"#, with: #""when": {"type": "date"}"#)
            .replacing(#""relationships": { "items""#, with: #""relationships": { "cover": {"to": "Memo", "min": 1}, "items""#)
        try place.write(strict, to: "strict.json")
        let outcome = try place.run("schema", "notes", "--set", "strict.json")
        let preview = try place.run("schema", "notes", "--set", "strict.json", "--dry-run")
        for (text, object) in [(outcome.errors, "Note/1 (1)"), (preview.output, "Note/1")] {
            #expect(text.contains("\(object): 'when' must have a value") && text.contains("and 30 more"), "\(text)")
            #expect(text.contains("\(object): 'cover' must lead to at least one object"), "\(text)")
        }
        #expect(outcome.code == 1 && preview.code == 1)
    }

    @Test func `a former name that the new schema still has is reported with its file and place`() throws {
        let place = try Workplace()
        func schema(_ more: String) -> String { #"{"entities": {"Note": {"attributes": {"title": {"type": "string"}\#(more)}}}}"# }
        try place.write(schema(""), to: "before.json")
        try place.write(schema(#", "name": {"type": "string", "renamedFrom": "title"}"#), to: "next.json")
        #expect(try place.run("init", "notes", "--schema", "before.json").code == 0)
        for options in [[], ["--dry-run"]] {
            let outcome = try place.run(executable: Workplace.binary, ["schema", "notes", "--set", "next.json"] + options)
            #expect(outcome.code == 65)
            #expect(outcome.errors.hasPrefix("cambium: next.json at /entities/Note/attributes/name/renamedFrom: "))
        }
    }

    @Test(arguments: [["--actor", "jane"], ["--message", "text"], ["--request", "r"]])
    func `an author or a request without a change is refused`(option: [String]) throws {
        let place = try Workplace.withStore()
        for command in [["schema", "notes"], ["label", "notes"]] {
            let outcome = try place.run(executable: Workplace.binary, command + option)
            #expect(outcome.code == 64 && outcome.output.isEmpty && outcome.errors.contains(option[0]), "\(command): \(outcome.errors)")
        }
        #expect(try place.run(executable: Workplace.binary, ["schema", "notes", "--set", "schema.json"] + option).code == 0)
    }

    @Test func `the same request changes the schema once`() throws {
        let place = try place()
        try place.write(Self.renamed, to: "next.json")
        #expect(try place.run("schema", "notes", "--set", "next.json", "--request", "r").code == 0)
        let again = try place.run("schema", "notes", "--set", "next.json", "--request", "r", "--json")
        #expect(try again.json.first?["repeated"] as? Bool == true && again.json.first?["transaction"] as? Int == 3)
        #expect(try place.run("schema", "notes", "--set", "schema.json", "--request", "r").code == 1)
    }

    @Test func `renaming identifiers of a Core Data model are former names`() throws {
        let place = try place()
        let model = """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Page" elementID="Note">
                    <attribute name="id" attributeType="Integer 64"/>
                    <attribute name="name" optional="YES" attributeType="String" elementID="title"/>
                </entity>
            </model>
            """
        try place.write(model, to: "contents")
        let outcome = try place.run("schema", "notes", "--set", "contents", "--dry-run")
        #expect(outcome.output.contains("renamed, was Note") && outcome.output.contains("renamed, was title"))
    }

    @Test func `a Core Data model is recognized by the name of its folder, however the path is written`() throws {
        let place = try Workplace()
        let version = place.directory.appending(path: "M.xcdatamodeld/M.xcdatamodel")
        try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
        try place.write("<model><entity name='A'/></model>", to: "M.xcdatamodeld/M.xcdatamodel/contents")
        try FileManager.default.createSymbolicLink(
            atPath: place.directory.appending(path: "current").path, withDestinationPath: "M.xcdatamodeld")
        for (number, path) in ["M.xcdatamodeld", "M.xcdatamodeld//", "M.xcdatamodeld/.", "current"].enumerated() {
            let outcome = try place.run("init", "store\(number)", "--schema", path)
            #expect(outcome.code == 0, "\(path): \(outcome.errors)")
        }
    }
}

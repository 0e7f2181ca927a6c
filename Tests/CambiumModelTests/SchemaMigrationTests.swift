import Testing

@testable import CambiumModel

@Suite struct SchemaMigrationTests {
    private func schema(_ entities: String) throws -> Schema { try Schema(SchemaFixture.definition(entities)) }

    private func migration(_ before: String, _ after: String) throws -> SchemaMigration {
        try SchemaMigration(from: try schema(before), to: SchemaFixture.definition(after))
    }

    /// Returns the changes of a migration, one line for each.
    private func changes(_ before: String, _ after: String) throws -> [String] {
        try migration(before, after).changes.map { change in
            let texts = [change.aspect, change.before, change.after].compactMap { $0 }
            return ([change.kind.rawValue, change.subject] + texts + (change.isAutomatic ? [] : ["!"])).joined(separator: " ")
        }
    }

    private let note = #""Note":{"attributes":{"title":{"type":"string"},"year":{"type":"int32"}}}"#

    @Test func `the same schema has no changes`() throws {
        for entities in [note, SchemaFixture.everything] { #expect(try changes(entities, entities).isEmpty) }
        let spelled = #""Note":{"attributes":{"title":{"type":"string","optional":false,"default":null},"year":{"type":"int32"}}}"#
        #expect(try changes(note, spelled).isEmpty)
    }

    @Test func `values that differ only in the encoding of their characters are reported as changes`() throws {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        func note(_ letter: String) -> String {
            #""Note":{"attributes":{"title":{"type":"string","default":"\#(letter)","regex":"\#(letter)","enum":["\#(letter)"]}},"#
                + #""queries":{"q":{"where":"title == '\#(letter)'"}}}"#
        }
        let aspects = try migration(note(composed), note(decomposed)).changes.map(\.aspect)
        #expect(aspects == ["queries/q", "default", "regex", "enum"])
    }

    @Test func `added, removed and changed properties are reported`() throws {
        let after = #""Note":{"attributes":{"title":{"type":"string","default":""},"done":{"type":"bool","optional":true}}},"Tag":{}"#
        #expect(
            try changes(note, after) == [
                #"changed Note.title default """#, "added Note.done bool", "added Tag", "removed Note.year int32",
            ])
    }

    @Test func `another order of declaration is reported once, for the first entity that moved`() throws {
        let (tag, page) = (#""Tag":{"attributes":{"a":{"type":"bool"},"b":{"type":"bool"}}}"#, #""Page":{}"#)
        let turned = #""Tag":{"attributes":{"b":{"type":"bool"},"a":{"type":"bool"}}}"#
        #expect(try changes("\(note),\(tag),\(page)", "\(note),\(page),\(tag)") == ["changed Page order"])
        #expect(try changes("\(note),\(tag)", "\(note),\(turned)") == ["changed Tag order"])
        #expect(try changes("\(note),\(tag)", "\(turned),\(note)") == ["changed Tag order"])
        #expect(try changes("\(note),\(tag)", "\(page),\(tag),\(note)") == ["added Page", "changed Tag order"])
    }

    @Test func `a renamed entity or property keeps its number, and renamedFrom may stay in the file`() throws {
        let after = #""Memo":{"renamedFrom":"Note","attributes":{"name":{"type":"string","renamedFrom":"title"},"year":{"type":"int32"}}}"#
        let first = try migration(note, after)
        #expect(first.changes.map(\.kind) == [.renamed, .renamed])
        #expect(first.after.entity("Memo")?.number == first.before.entity("Note")?.number)
        #expect(first.after.entity("Memo")?.attribute("name")?.number.rawValue == 1)
        let again = try SchemaMigration(from: first.after, to: SchemaFixture.definition(after))
        #expect(again.isEmpty)
        let third = after.replacing("Memo", with: "Text")
        #expect(try SchemaMigration(from: first.after, to: SchemaFixture.definition(third)).changes.map(\.kind) == [.renamed])
    }

    @Test func `an earlier version of a schema undoes its renamings`() throws {
        let later = #""Memo":{"renamedFrom":"Note","attributes":{"name":{"type":"string","renamedFrom":"title"},"year":{"type":"int32"}}}"#
        let second = try migration(note, later)
        let back = try SchemaMigration(from: second.after, to: SchemaFixture.definition(note))
        #expect(back.changes.map(\.kind) == [.renamed, .renamed])
        #expect(back.after.entity("Note")?.attribute("title")?.number == second.before.entity("Note")?.attribute("title")?.number)
        #expect(try SchemaMigration(from: back.after, to: SchemaFixture.definition(later)).changes.map(\.kind) == [.renamed, .renamed])
    }

    @Test func `a name that states a former name takes precedence over the former name itself`() throws {
        let before = #""E":{"attributes":{"b":{"type":"bool","renamedFrom":"a"}}}"#
        let after = #""E":{"attributes":{"a":{"type":"bool","optional":true},"c":{"type":"bool","renamedFrom":"a"}}}"#
        #expect(try changes(before, after) == ["added E.a bool", "renamed E.c b c"])
        #expect(try changes(before, #""E":{"attributes":{"a":{"type":"bool"},"b":{"type":"bool"}}}"#).first == "added E.a bool")
    }

    @Test func `a renaming is not undone by a property of the other kind, or by a property that moves here`() throws {
        let renamed = #""b":{"type":"bool","optional":true,"renamedFrom":"a"}"#
        let relationship = #""E":{"relationships":{"a":{"to":"E"}}}"#
        #expect(try migration(#""E":{"attributes":{\#(renamed)}}"#, relationship).changes.map(\.kind) == [.added, .removed])
        let a = #""attributes":{"a":{"type":"bool","optional":true}}"#
        let before = #""P":{\#(a)},"E":{"parent":"P","attributes":{\#(renamed)}}"#
        #expect(try changes(before, #""P":{},"E":{"parent":"P",\#(a)}"#).contains("moved E.a P E"))
    }

    @Test func `two names can be exchanged once`() throws {
        let before = #""E":{"attributes":{"a":{"type":"bool"},"b":{"type":"bool"}}}"#
        let after = #""E":{"attributes":{"a":{"type":"bool","renamedFrom":"b"},"b":{"type":"bool","renamedFrom":"a"}}}"#
        let first = try migration(before, after)
        #expect(first.after.entity("E")?.attributes.map(\.number.rawValue) == [2, 1])
        #expect(try SchemaMigration(from: first.after, to: SchemaFixture.definition(after)).isEmpty)
    }

    @Test func `two names are not exchanged if one of them was renamed from the other`() throws {
        let before = #""E":{"attributes":{"a":{"type":"bool","renamedFrom":"b"},"b":{"type":"bool"}}}"#
        let plain = #""E":{"attributes":{"a":{"type":"bool"},"b":{"type":"bool"}}}"#
        let after = #""E":{"attributes":{"a":{"type":"bool","renamedFrom":"b"},"b":{"type":"bool","renamedFrom":"a"}}}"#
        let error = #expect(throws: CambiumError.self) { try migration(before, after) }
        #expect(error?.code == .invalidInput && error?.place?.pointer == "/entities/E/attributes/b/renamedFrom")
        // Without both entries, nothing remains of the earlier renaming.
        let second = try SchemaMigration(from: migration(before, plain).after, to: SchemaFixture.definition(after))
        #expect(second.after.entity("E")?.attributes.map(\.number.rawValue) == [2, 1])
    }

    @Test func `a name that still exists cannot be a former name`() throws {
        let after = #""E":{"attributes":{"a":{"type":"bool"},"b":{"type":"bool","renamedFrom":"a"}}}"#
        let before = #""E":{"attributes":{"a":{"type":"bool"}}}"#
        let error = #expect(throws: CambiumError.self) { try migration(before, after) }
        #expect(error?.code == .invalidInput && error?.place?.pointer == "/entities/E/attributes/b/renamedFrom")
    }

    @Test(arguments: [
        (#""x":{"type":"bool"}"#, #""y":{"type":"bool","renamedFrom":"x"}"#, "x"),
        (#""y":{"type":"bool","renamedFrom":"x"}"#, #""y":{"type":"bool","renamedFrom":"x"}"#, "x"),
        (#""x":{"type":"bool","renamedFrom":"w"}"#, #""x":{"type":"bool","renamedFrom":"w"}"#, "x"),
    ])
    func `a second name cannot be renamed from the same former name`(_ before: String, _ after: String, _ former: String) throws {
        let second = #""z":{"type":"bool","renamedFrom":"\#(former)"}"#
        let error = #expect(throws: CambiumError.self) {
            try migration(#""E":{"attributes":{\#(before)}}"#, #""E":{"attributes":{\#(after),\#(second)}}"#)
        }
        #expect(error?.code == .invalidInput && error?.place?.pointer == "/entities/E/attributes/z/renamedFrom")
    }

    @Test func `a number is never reused`() throws {
        let less = #""Note":{"attributes":{"title":{"type":"string"}}}"#
        let first = try migration(note + #","Tag":{}"#, less)
        let catalog = String(decoding: first.after.catalog.json, as: UTF8.self)
        #expect(catalog.contains(#""nextNumber":3"#))
        let second = try SchemaMigration(from: try Schema(catalog: first.after.catalog), to: SchemaFixture.definition(note + #","Tag":{}"#))
        #expect(second.after.entity("Note")?.attribute("year")?.number.rawValue == 3)
        #expect(second.after.entity("Tag")?.number.rawValue == 3)
        #expect(!String(decoding: second.after.catalog.json, as: UTF8.self).contains("nextNumber"))
    }

    @Test func `a new entity is refused if no number is left`() throws {
        var definition = try schema(note).definition
        definition.nextNumber = 65_535
        let before = try Schema(resolving: definition, .compileAll)
        let error = #expect(throws: CambiumError.self) {
            try SchemaMigration(from: before, to: SchemaFixture.definition(note + #","Tag":{}"#))
        }
        #expect(error?.code == .limitExceeded)
    }

    @Test(arguments: [
        ("int16", "int64", true), ("int32", "double", true), ("int32", "float", true), ("int64", "double", true),
        ("int64", "decimal", true),
        ("float", "double", true), ("double", "decimal", true), ("uri", "string", true), ("string", "uri", false),
        ("string", "int32", false),
        ("date", "int64", false),
    ])
    func `a change of the type is automatic if values convert`(_ from: String, _ to: String, _ isAutomatic: Bool) throws {
        let found = try migration(
            #""E":{"attributes":{"a":{"type":"\#(from)"}}}"#, #""E":{"attributes":{"a":{"type":"\#(to)"}}}"#)
        #expect(found.changes.map(\.isAutomatic) == [isAutomatic])
        #expect(found.after.entity("E")?.attribute("a")?.number.rawValue == (isAutomatic ? 1 : 2))
    }

    @Test func `a property moves within its hierarchy, also from several entities and to several entities`() throws {
        let below = #""A":{},"B":{"parent":"A","attributes":{"x":{"type":"bool"}}},"C":{"parent":"A"}"#
        let above = #""A":{"attributes":{"x":{"type":"bool"}}},"B":{"parent":"A"},"C":{"parent":"A"}"#
        #expect(try changes(below, above) == ["moved A.x B A"])
        #expect(try changes(above, below) == ["moved B.x A B"])
        let both = below.replacing(#""C":{"#, with: #""C":{"attributes":{"x":{"type":"bool"}},"#)
        #expect(try changes(both, above) == ["moved A.x B A", "moved A.x C A"])
        #expect(try changes(above, both) == ["moved B.x A B", "moved C.x A C"])
        let up = try migration(both, above)
        #expect(SchemaMigration(logged: up.before, up.after).changes == up.changes)
        let down = try migration(above, both)
        #expect(SchemaMigration(logged: down.before, down.after).changes == down.changes)
    }

    @Test func `several properties do not match one property if a type does not convert, or if they are relationships`() throws {
        func siblings(_ left: String, _ right: String) -> String { #""A":{},"B":{"parent":"A",\#(left)},"C":{"parent":"A",\#(right)}"# }
        func attribute(_ type: String) -> String { #""attributes":{"x":{"type":"\#(type)"}}"# }
        let relationship = #""relationships":{"x":{"to":"A"}}"#
        let above = { (x: String) in #""A":{\#(x)},"B":{"parent":"A"},"C":{"parent":"A"}"# }
        #expect(try migration(siblings(attribute("bool"), attribute("date")), above(attribute("bool"))).replacements.count == 1)
        #expect(try migration(siblings(relationship, relationship), above(relationship)).replacements.count == 1)
    }

    @Test func `a property that moves to a new entity is reported, also if two properties match it`() throws {
        let x = #""attributes":{"x":{"type":"bool"}}"#
        let after = #""A":{},"M":{"parent":"A",\#(x)},"B":{"parent":"M"},"C":{"parent":"M"}"#
        #expect(
            try changes(#""A":{},"B":{"parent":"A",\#(x)},"C":{"parent":"A"}"#, after)
                == ["added M", "moved M.x B M", #"changed B parent "A" "M""#, #"changed C parent "A" "M""#])
        let both = try migration(#""A":{},"B":{"parent":"A",\#(x)},"C":{"parent":"A",\#(x)}"#, after)
        #expect(both.replacements.isEmpty && both.changes.count { $0.kind == .moved && $0.subject == "M.x" } == 2)
        let other = try migration(#""A":{\#(x)},"B":{"parent":"A"},"C":{"parent":"A"}"#, after.replacing("bool", with: "uuid"))
        #expect(other.replacements.map(\.subject) == ["M.x"])
    }

    @Test func `a property that was renamed earlier moves although another property has its former name`() throws {
        let (name, title) = (#""name":{"type":"bool","renamedFrom":"title"}"#, #""title":{"type":"bool"}"#)
        let before = #""A":{"attributes":{\#(name),\#(title)}},"B":{"parent":"A"}"#
        #expect(
            try changes(before, #""A":{"attributes":{\#(title)}},"B":{"parent":"A","attributes":{\#(name)}}"#) == ["moved B.name A B"])
    }

    @Test func `no entity leaves its hierarchy automatically`() throws {
        let before = #""A":{},"B":{"parent":"A"}"#
        #expect(try changes(before, #""A":{},"B":{}"#) == ["replaced B B !"])
        #expect(try changes(#""P":{},"A":{}"#, #""P":{},"A":{"parent":"P"}"#) == ["replaced A A !"])
        #expect(
            try changes(#""A":{},"B":{"parent":"A"},"C":{"parent":"A"}"#, #""A":{},"B":{"parent":"C"},"C":{"parent":"A"}"#)
                == [#"changed B parent "A" "C""#])
    }

    @Test func `a new parent of a root takes its number, and the root gets a new one`() throws {
        let after = #""P":{},"A":{"parent":"P","attributes":{"x":{"type":"bool"}}},"B":{"parent":"A"}"#
        let found = try migration(#""A":{"attributes":{"x":{"type":"bool"}}},"B":{"parent":"A"}"#, after)
        #expect(found.replacements.isEmpty && found.changes.map(\.subject) == ["P", "A"])
        #expect(["P", "A", "B"].map { found.after.entity($0)?.number.rawValue } == [1, 3, 2])
        #expect(SchemaMigration(logged: found.before, found.after).changes == found.changes)
        let third = #""Q":{},"# + after.replacing(#""P":{}"#, with: #""P":{"parent":"Q"}"#)
        let second = try SchemaMigration(from: found.after, to: SchemaFixture.definition(third))
        #expect(["Q", "P", "A", "B"].map { second.after.entity($0)?.number.rawValue } == [1, 4, 3, 2])
        #expect(second.after.entity("A")?.attribute("x")?.number == found.before.entity("A")?.attribute("x")?.number)
    }

    @Test func `a root that is renamed below its new parent is found, and a renamed root is not taken for a parent`() throws {
        let below = try migration(#""A":{}"#, #""P":{},"B":{"parent":"P","renamedFrom":"A"}"#)
        #expect(below.after.entity("P")?.number.rawValue == 1)
        #expect(SchemaMigration(logged: below.before, below.after).changes == below.changes)
        let renamed = try migration(#""A":{}"#, #""B":{"renamedFrom":"A"},"C":{"parent":"B"}"#)
        #expect(renamed.after.entity("B")?.number.rawValue == 1)
        #expect(SchemaSuccession(renamed.before, renamed.after).renumbered.isEmpty)
    }

    @Test func `a name of a removed entity that another entity gets is another parent, destination and target of a query`() throws {
        let toP = #""relationships":{"p":{"to":"P"}},"queries":{"q":{"of":"P"},"r":{}}"#
        let before = #""A":{},"P":{"parent":"A"},"Q":{"parent":"A"},"C":{"parent":"P",\#(toP)}"#
        let after = #""A":{},"P":{"parent":"A","renamedFrom":"Q"},"C":{"parent":"P",\#(toP)}"#
        #expect(
            try changes(before, after) == [
                "renamed P Q P", #"changed C parent "P" "P""#, #"changed C queries/q {"of":"P"} {"of":"P"}"#,
                #"changed C.p to "P" "P""#, "removed P",
            ])
    }

    @Test func `a name of a removed or replaced attribute that another attribute gets is another identity and another source`() throws {
        func entity(_ attributes: String) -> String {
            let sum = #""sum":{"type":"int64","derived":{"sum":"as.a"}}"#
            return #""A":{"identity":["a"],"unique":[["a","c"]],"indexes":[["c"],["-a"]],"#
                + #""attributes":{"c":{"type":"int64"},\#(attributes)}},"#
                + #""B":{"attributes":{\#(sum)},"relationships":{"as":{"to":"A","many":true}}}"#
        }
        let before = entity(#""a":{"type":"int64"},"b":{"type":"int64"}"#)
        let sets = [
            #"changed A identity ["a"] ["a"]"#, #"changed A unique [["a","c"]] [["a","c"]]"#,
            #"changed A indexes [["c"],["-a"]] [["c"],["-a"]]"#,
        ]
        let sum = #"changed B.sum derived {"sum":"as.a"} {"sum":"as.a"}"#
        let removed = entity(#""a":{"type":"int64","renamedFrom":"b"}"#)
        #expect(try changes(before, removed) == sets + ["renamed A.a b a", sum, "removed A.a int64"])
        let exchanged = entity(#""a":{"type":"int64","renamedFrom":"b"},"b":{"type":"string","renamedFrom":"a"}"#)
        #expect(try changes(before, exchanged) == sets + ["renamed A.a b a", "replaced A.b int64 string !", sum])
        let replaced = entity(#""a":{"type":"int16"},"b":{"type":"int64"}"#)
        #expect(try changes(before, replaced) == [#"changed A.a type "int64" "int16""#])
    }

    @Test func `a query is another one if a name in it means another property`() throws {
        func entity(_ attributes: String) -> String {
            #""A":{"attributes":{"c":{"type":"int64"},\#(attributes)},"#
                + #""relationships":{"one":{"to":"A"},"many":{"to":"A","many":true}},"queries":{"q":{"where":"a == 1"},"#
                + #""r":{"sort":"one.a"},"s":{"where":"c in {1, $source.one.a}"},"t":{"where":"many.@max.a > 1"},"#
                + #""u":{"where":"any many where (c == 1 and not a == 2)"},"v":{"where":"one.c == 1","sort":"c,_id"}}}"#
        }
        func queries(_ attributes: String) throws -> [String] {
            let all = try changes(entity(#""a":{"type":"int64"},"b":{"type":"int64"}"#), entity(attributes))
            return all.filter { $0.hasPrefix("changed A queries/") }.map { String($0.split(separator: " ")[2].dropFirst(8)) }
        }
        let others = ["q", "r", "s", "t", "u"]
        #expect(try queries(#""a":{"type":"int64","renamedFrom":"b"},"b":{"type":"int64","renamedFrom":"a"}"#) == others)
        #expect(try queries(#""a":{"type":"int64","renamedFrom":"b"}"#) == others)
        #expect(try queries(#""a":{"type":"int64"},"d":{"type":"int64","renamedFrom":"b"}"#) == [])
        #expect(try queries(#""a":{"type":"int32"},"b":{"type":"int64"}"#) == [])
    }

    @Test func `an attribute follows another one if the name in followParent means another attribute`() throws {
        func entities(_ attributes: String, _ path: String) -> String {
            let follower = #""f":{"type":"int64","optional":true,"userInfo":{"followParent":"\#(path)","withoutParent":"keep"}}"#
            return #""A":{"attributes":{\#(attributes)},"relationships":{"bs":{"to":"B","many":true}}},"#
                + #""B":{"attributes":{\#(follower)}},"C":{"attributes":{\#(follower)},"relationships":{"c":{"to":"C"}}}"#
        }
        func followers(_ attributes: String) throws -> [String] {
            let before = entities(#""a":{"type":"int64"},"b":{"type":"int64"}"#, "^.^.a")
            return try migration(before, entities(attributes, "^.^.a")).changes.filter { $0.aspect == "userInfo" }.map(\.subject)
        }
        let exchanged = #""a":{"type":"int64","renamedFrom":"b"},"b":{"type":"int64","renamedFrom":"a"}"#
        #expect(try followers(exchanged) == ["B.f", "C.f"])
        #expect(try followers(#""a":{"type":"int64","renamedFrom":"b"}"#) == ["B.f", "C.f"])
        #expect(try followers(#""a":{"type":"int64"},"d":{"type":"int64","renamedFrom":"b"}"#) == [])
    }

    @Test func `only the attributes that a parent's exchanged attribute concerns follow another one`() throws {
        func entities(_ attributes: String) -> String {
            let follower = #""f":{"type":"int64","optional":true,"userInfo":{"followParent":"a","withoutParent":"keep"}}"#
            return #""A":{"attributes":{\#(attributes)},"relationships":{"bs":{"to":"B","many":true}}},"B":{"attributes":{\#(follower)}},"#
                + #""C":{"attributes":{"a":{"type":"int64"}},"relationships":{"ds":{"to":"D"}}},"D":{"attributes":{\#(follower)}}"#
        }
        let exchanged = #""b":{"type":"int64","renamedFrom":"a"},"a":{"type":"int64","renamedFrom":"b"}"#
        let rule = #"{"followParent":"a","withoutParent":"keep"}"#
        #expect(
            try changes(entities(#""a":{"type":"int64"},"b":{"type":"int64"}"#), entities(exchanged)) == [
                "renamed A.b a b", "renamed A.a b a", "changed B.f userInfo \(rule) \(rule)",
            ])
    }

    private func two(_ first: String, _ second: String) -> String {
        #""A":{"relationships":{"bs":{"to":"B"\#(first)}}},"B":{"relationships":{\#(second)}}"#
    }

    @Test func `links keep their members if no member can be lost`() throws {
        let inverse = #""a":{"to":"A","inverse":"bs"}"#
        let many = two(#","many":true,"inverse":"a""#, inverse)
        #expect(try migration(many, two(#","many":true,"ordered":true,"inverse":"a""#, inverse)).replacements.isEmpty)
        #expect(try migration(many, two(#","many":true"#, "")).replacements.isEmpty)
        #expect(
            try migration(two(#","many":true"#, ""), two(#","many":true,"inverse":"as""#, #""as":{"to":"A","many":true}"#)).replacements
                .isEmpty)
        let one = two(#","inverse":"a""#, inverse)
        #expect(try migration(one, many).replacements.isEmpty)
        #expect(try migration(many, one).replacements.isEmpty && migration(two("", ""), one).replacements.isEmpty)
        #expect(try migration(two(#","many":true"#, #""a":{"to":"A"}"#), many).replacements.map(\.subject) == ["A.bs", "B.a"])
    }

    @Test func `an attribute does not become a relationship`() throws {
        #expect(
            try changes(#""A":{"attributes":{"b":{"type":"uuid"}}},"B":{}"#, #""A":{"relationships":{"b":{"to":"B"}}},"B":{}"#)
                == ["replaced A.b uuid B !"])
    }

    @Test func `a change in the log is recognized by its numbers`() throws {
        let first = try migration(note, note.replacing(#""year":{"type":"int32"}"#, with: #""year":{"type":"string"}"#))
        #expect(first.changes.map(\.kind) == [.replaced])
        #expect(SchemaMigration(logged: first.before, first.after).changes.map(\.kind) == [.added, .removed])
    }
}

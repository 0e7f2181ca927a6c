import CambiumModel
import Testing

@Suite struct `Rules for clones` {
    /// Returns the parent `P { id, name, day; children -> C }`, and a child `C` with an attribute `a` of these words.
    static func child(_ words: String, relationship: String = #""inverse":"parent""#, back: String = "") -> String {
        """
        "P":{"attributes":{"id":{"type":"uuid"},"name":{"type":"string"},"day":{"type":"date"}},
        "relationships":{"children":{"to":"C","many":true,\(relationship)}}},
        "C":{"attributes":{"a":{\(words)}},"relationships":{"parent":{"to":"P"\(back)}}}
        """
    }

    static let good = [
        #""type":"uuid","userInfo":{"rebuild":"uuid"}"#, #""type":"uuid","userInfo":{"rebuild":"UUID"}"#,
        #""type":"date","userInfo":{"rebuild":"Now"}"#, #""type":"int32","optional":true,"userInfo":{"exclude":""}"#,
        #""type":"int32","default":0,"userInfo":{"exclude":"whatever"}"#, #""type":"uuid","userInfo":{"followParent":"id"}"#,
        #""type":"uuid","userInfo":{"followParent":"id","withoutParent":"keep"}"#,
        #""type":"uuid","optional":true,"userInfo":{"followParent":"id","withoutParent":"Blank"}"#,
        #""type":"string","default":"","userInfo":{"followParent":"name","withoutParent":"blank"}"#,
        #""type":"uuid","userInfo":{"followParent":"^.^.id"}"#,
        #""type":"uuid","userInfo":{"followParent":"^.id"}"#, #""type":"string","userInfo":{"followParent":"^.^.^.id"}"#,
        #""type":"uuid","userInfo":{"rebuild":"uuid","followParent":"id","withoutParent":"keep"}"#,
        #""type":"int32","userInfo":{"unknown":"word"}"#,
    ]

    @Test(arguments: good)
    func `valid rules are accepted`(_ words: String) {
        #expect(SchemaFixture.error(Self.child(words)) == nil)
    }

    /// The words of the attribute, the key that is wrong, and a part of the message.
    static let bad: [(String, String, String)] = [
        (#""type":"int32","userInfo":{"exclude":""}"#, "exclude", "would lack"),
        (#""type":"int32","default":null,"userInfo":{"exclude":""}"#, "exclude", "would lack"),
        (#""type":"string","userInfo":{"rebuild":"uuid"}"#, "rebuild", "does not fit"),
        (#""type":"uuid","userInfo":{"rebuild":"now"}"#, "rebuild", "does not fit"),
        (#""type":"uuid","userInfo":{"rebuild":"new"}"#, "rebuild", "neither"),
        (#""type":"uuid","userInfo":{"rebuild":""}"#, "rebuild", "neither"),
        (#""type":"uuid","userInfo":{"followParent":"id","withoutParent":"blank"}"#, "withoutParent", "would lack"),
        (#""type":"uuid","userInfo":{"followParent":"id","withoutParent":"leave"}"#, "withoutParent", "neither"),
        (#""type":"uuid","userInfo":{"withoutParent":"keep"}"#, "withoutParent", "has no effect"),
        (#""type":"uuid","userInfo":{"followParent":""}"#, "followParent", "missing"),
        (#""type":"uuid","userInfo":{"followParent":"^"}"#, "followParent", "missing"),
        (#""type":"uuid","userInfo":{"followParent":"^."}"#, "followParent", "missing"),
        (#""type":"uuid","userInfo":{"followParent":"^.^"}"#, "followParent", "missing"),
        (#""type":"uuid","userInfo":{"followParent":"a.b"}"#, "followParent", "neither"),
        (#""type":"uuid","userInfo":{"followParent":"x.^.id"}"#, "followParent", "neither"),
        (#""type":"uuid","userInfo":{"followParent":"^^.id"}"#, "followParent", "neither"),
        (#""type":"uuid","userInfo":{"followParent":"^..id"}"#, "followParent", "neither"),
        (#""type":"uuid","userInfo":{"followParent":".id"}"#, "followParent", "neither"),
        (#""type":"uuid","userInfo":{"followParent":"^.nope"}"#, "followParent", "has an attribute 'nope'"),
        (#""type":"string","userInfo":{"followParent":"^.id"}"#, "followParent", "is of type uuid"),
        (#""type":"uuid","userInfo":{"followParent":"nope"}"#, "followParent", "has an attribute 'nope'"),
        (#""type":"uuid","userInfo":{"followParent":"a"}"#, "followParent", "has an attribute 'a'"),
        (#""type":"string","userInfo":{"followParent":"id"}"#, "followParent", "is of type uuid"),
        (#""type":"int64","userInfo":{"followParent":"name"}"#, "followParent", "is of type string"),
    ]

    @Test(arguments: bad)
    func `an invalid rule is refused when the schema is loaded`(_ words: String, _ key: String, _ word: String) throws {
        let error = try #require(SchemaFixture.error(Self.child(words)), "the schema was accepted")
        #expect(error.code == .invalidInput)
        #expect(error.place?.pointer == "/entities/C/attributes/a/userInfo/\(key)")
        #expect(error.message.hasPrefix("The schema has a mistake."))
        #expect(error.description.contains(word), "\(error)")
    }

    @Test(arguments: ["copy", "skip", "COPY", "Skip"])
    func `a relationship may state that it is copied or skipped`(_ rule: String) {
        #expect(SchemaFixture.error(Self.child(#""type":"bool""#, relationship: #""userInfo":{"clone":"\#(rule)"}"#)) == nil)
    }

    /// The inverses that the two sides state, and whether the target has only one parent.
    @Test(arguments: [
        (#""inverse":"parent","#, #","inverse":"children""#, true), (#""inverse":"parent","#, "", true),
        ("", #","inverse":"children""#, true), ("", "", false), (#""inverse":"parent","#, #","many":true"#, false),
        ("", #","many":true,"inverse":"children""#, false),
    ])
    func `children that have one parent cannot be shared, whichever side names the inverse`(
        _ inverse: String, _ back: String, _ isRefused: Bool
    ) {
        let schema = Self.child(#""type":"bool""#, relationship: inverse + #""userInfo":{"clone":"share"}"#, back: back)
        let error = SchemaFixture.error(schema)
        #expect(error?.place?.pointer == (isRefused ? "/entities/P/relationships/children/userInfo/clone" : nil))
    }

    @Test func `a parent's attribute is looked up in the parent's whole family`() {
        func schema(_ name: String) -> String {
            """
            "Top":{"attributes":{"t":{"type":"int64"}}},
             "P":{"parent":"Top","attributes":{"p":{"type":"int64"}},"relationships":{"c":{"to":"C0","many":true}}},
            "Sub":{"parent":"P","attributes":{"s":{"type":"int64"}}}, "Stranger":{"attributes":{"q":{"type":"int64"}}},
            "C0":{}, "C":{"parent":"C0","attributes":{"a":{"type":"int64","userInfo":{"followParent":"\(name)"}}}}
            """
        }
        for name in ["t", "p", "s"] { #expect(SchemaFixture.error(schema(name)) == nil, "\(name)") }
        #expect(SchemaFixture.error(schema("q"))?.place?.pointer == "/entities/C/attributes/a/userInfo/followParent")
    }

    @Test func `the example model for clones is accepted`() throws {
        let index = #""index":{"type":"int32","optional":true,"default":0"#
        let schema = """
            "Note":{"attributes":{"id":{"type":"uuid","optional":true,"userInfo":{"rebuild":"uuid"}},
            "createDate":{"type":"date","optional":true,"userInfo":{"rebuild":"now"}},\(index)}},
            "relationships":{"items":{"to":"Item","many":true,"inverse":"note","onDelete":"cascade"}}},
            "Item":{"attributes":{\(index),"userInfo":{"exclude":""}},
            "blank":{"type":"uuid","optional":true,"userInfo":{"followParent":"id","withoutParent":"blank"}},
            "keep":{"type":"uuid","optional":true,"userInfo":{"followParent":"id","withoutParent":"keep"}}},
            "relationships":{"note":{"to":"Note","inverse":"items"},"tags":{"to":"Tag","many":true,"inverse":"items"}}},
            "Tag":{"relationships":{"items":{"to":"Item","many":true,"inverse":"tags"}}}
            """
        #expect(try SchemaFixture.schema(schema).links.count == 2)
    }
}

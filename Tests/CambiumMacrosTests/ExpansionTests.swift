#if Macros
    import Testing

    /// Compares the code that the macros generate.
    struct ExpansionTests {
        private func expansion(_ source: String) -> String { MacroSource(source).expansion }

        /// The lines of the builder of the schema.
        private func properties(_ members: String) -> [String] {
            let lines = expansion("@Entity struct Note {\n\(members)\n}").split(separator: "\n").map { $0.drop { $0 == " " } }
            return lines.filter { $0.hasPrefix("RecordProperty") }.map(String.init)
        }

        @Test func `a struct gets a ref and a conformance`() {
            let source = """
                @Entity("Note", indexes: [["title"]])
                struct Note {
                    @Identity(.rebuild(.uuid)) var id: UUID
                    @Attribute(.minLength(1)) var title: String = ""
                    @Attribute(.json) var meta: Meta?
                    @Relationship(.clone(.copy), inverse: \\Item.note, onDelete: .cascade) var items: [Item]
                    @Transient var cache: Int = 0
                    let created: Date
                }
                """
            let expected = """
                struct Note {
                    var id: UUID
                    var title: String = ""
                    var meta: Meta?
                    var items: [Item]
                    var cache: Int = 0
                    let created: Date

                    /// The object of this value. `nil` until the value is saved for the first time, and again after it is deleted.
                    var ref: Ref<Note>?
                }

                extension Note: EntityRecord {
                    static let recordSchema = RecordSchema<Self>("Note", indexes: [["title"]]) {
                        RecordProperty("id", \\Self.id, .identity, .rebuild(.uuid))
                        RecordProperty("title", \\Self.title, .minLength(1))
                        RecordProperty(json: "meta", \\Self.meta)
                        RecordProperty("items", \\Self.items, .clone(.copy), .inverse(\\Item.note), .onDelete(.cascade))
                        RecordProperty("created", \\Self.created)
                    }

                    init(from row: inout RecordReader) throws {
                        self.id = try row.read(0)
                        self.title = try row.read(1)
                        self.meta = try row.readJSON(2)
                        self.items = try row.read(3)
                        self.created = try row.read(4)
                        self.ref = row.ref()
                    }

                    mutating func write(to row: inout RecordWriter) throws {
                        try row.write(0, &self.id)
                        try row.write(1, &self.title)
                        try row.writeJSON(2, self.meta)
                        try row.write(3, &self.items)
                        try row.write(4, constant: self.created)
                    }
                }
                """
            #expect(expansion(source).drop { $0.isNewline } == expected)
        }

        @Test func `the extension does not repeat a conformance that the struct states`() {
            let text = MacroSource("@Entity struct Note: EntityRecord {\n    var id: UUID\n}", conformances: []).expansion
            #expect(text.contains("extension Note {"))
            #expect(text.contains("static let recordSchema"))
        }

        @Test(arguments: ["public", "package"]) func `the members have the access of the struct`(access: String) {
            let text = expansion("@Entity \(access) struct Note {\n    var id: UUID\n}")
            #expect(text.contains("\(access) var ref: Ref<Note>?"))
            #expect(text.contains("\(access) static let recordSchema"))
            #expect(text.contains("\(access) init(from row: inout RecordReader) throws"))
            #expect(text.contains("\(access) mutating func write(to row: inout RecordWriter) throws"))
        }

        @Test(arguments: ["internal", "fileprivate", "private"]) func `members of other structs have no modifier`(access: String) {
            #expect(!expansion("@Entity \(access) struct Note {\n    var id: UUID\n}").contains("\(access) var ref"))
        }

        @Test func `the members of a struct in a public extension are public`() {
            let text = expansion("public extension Shop {\n    @Entity struct Till {\n        var id: UUID\n    }\n}")
            #expect(text.contains("public var ref: Ref<Till>?"))
        }

        @Test(arguments: [
            "private struct Shop { @Entity struct Till { var id: UUID } }",
            "private extension Shop { @Entity struct Till { var id: UUID } }",
            "extension Shop { fileprivate enum Office { @Entity struct Till { var id: UUID } } }",
        ]) func `a struct inside a type that the whole file sees is a record`(source: String) {
            #expect(MacroSource(source).reports.isEmpty)
            #expect(expansion(source).contains("Till: EntityRecord"))
        }

        @Test func `a struct inside a private type gets no extension`() {
            let source = "struct Shop { private enum Office { @Entity struct Till { var id: UUID } } }"
            #expect(!expansion(source).contains("EntityRecord"))
        }

        @Test func `a generic struct has no stored static property`() {
            let sources = ["@Entity struct Note<Content> { var id: UUID }", "enum Shelf<Content> { @Entity struct Note { var id: UUID } }"]
            for source in sources {
                #expect(expansion(source).contains("static var recordSchema: RecordSchema<Self> {"))
            }
        }

        @Test func `the arguments of the macro become arguments of the schema`() {
            let text = expansion(#"@Entity(parent: Item.self, isAbstract: true, renamedFrom: "Memo") struct Note { var id: UUID }"#)
            #expect(text.contains(#"RecordSchema<Self>("Note", parent: Item.self, isAbstract: true, renamedFrom: "Memo")"#))
        }

        @Test(arguments: [
            ("var a = \"x\"", #".default("x")"#), ("var a: String = \"\"", #".default("" as String)"#),
            ("var a: Int? = 5", ".default(5 as Int)"),
            ("var a: Double = -1", ".default(-1 as Double)"), ("var a: Bool = true", ".default(true as Bool)"),
            ("var a: Swift.Optional<Int> = 1", ".default(1 as Int)"), ("var a: (Int?) = 1", ".default(1 as Int)"),
            ("var a: Optional<Int> = 1", ".default(1 as Int)"), ("var a: Decimal = 1_000.5", ".default(1_000.5 as Decimal)"),
        ]) func `a literal becomes the default`(property: String, option: String) {
            #expect(properties(property) == [#"RecordProperty("a", \Self.a, \#(option))"#])
        }

        @Test(arguments: ["var a: Kind = .retail", "var a: Kind = Kind.retail", "var a: Kind? = .retail"])
        func `a member of an unknown type becomes the default if the type is an attribute value`(property: String) {
            let words = expansion("@Entity struct Note {\n\(property)\n}").split { $0.isWhitespace }.joined(separator: " ")
            let option = "(.retail as Kind as Any as? any AttributeValue).map { .default($0) } ?? .userInfo([:])"
            #expect(words.contains(#"RecordProperty("a", \Self.a, \#(option))"#))
        }

        @Test(arguments: [
            ("var a: Date = .distantFuture", ".distantFuture as Date"), ("var a: Int? = Int.max", ".max as Int"),
        ]) func `a member of a known type becomes the default if the store can hold it`(property: String, value: String) {
            #expect(properties(property) == [#"RecordProperty("a", \Self.a, .default(\#(value)))"#])
        }

        @Test func `a case of an enum with the name of an unstorable number is a default`() {
            let words = expansion("@Entity struct Note {\nvar a: Kind = .infinity\n}").split { $0.isWhitespace }.joined(separator: " ")
            #expect(words.contains(".infinity as Kind"))
        }

        @Test(arguments: [
            "var a: UUID = UUID()", "var a: UUID = .init()", "var a: Int? = nil", "var a: [Item] = []", "var a: Date = .now",
            "var a: Kind? = .none",
            "var a: Int = 1 + 1", "var a: String = \"\\(1)\"", "@Relationship var a: City = .home", "var a: Int = -b",
            "var a: Double = .infinity", "var a: Float? = Float.nan", "var a: Decimal = .nan", "var a: Date = .distantPast",
            "var a: Decimal = .greatestFiniteMagnitude", "var a: URL = .homeDirectory", "var a: URL? = URL.temporaryDirectory",
            "var a: Decimal? = Decimal.leastFiniteMagnitude",
        ]) func `any other initial value is not a default`(property: String) {
            #expect(properties(property) == [#"RecordProperty("a", \Self.a)"#])
        }

        @Test func `a value that the options refuse is not a default`() {
            #expect(properties(#"@Attribute(.minLength(1)) var a: String = """#) == [#"RecordProperty("a", \Self.a, .minLength(1))"#])
            #expect(properties("@Attribute(.min(1)) var a: Int = 0") == [#"RecordProperty("a", \Self.a, .min(1))"#])
            #expect(properties("@Attribute(.max(1)) var a: Int = 1") == [#"RecordProperty("a", \Self.a, .max(1), .default(1 as Int))"#])
            #expect(properties("@Attribute(.max(9)) var a: Int = .max") == [#"RecordProperty("a", \Self.a, .max(9))"#])
            #expect(properties("@Attribute(.min(4)) var a: Double = .pi") == [#"RecordProperty("a", \Self.a, .min(4))"#])
            #expect(properties("@Attribute(.min(1)) var a: Int = .zero") == [#"RecordProperty("a", \Self.a, .min(1))"#])
            let max = #"RecordProperty("a", \Self.a, .min(1), .default(.max as Int))"#
            #expect(properties("@Attribute(.min(1)) var a: Int = .max") == [max])
            #expect(properties(#"@Attribute(.regex("x+")) var a = "x""#) == [#"RecordProperty("a", \Self.a, .regex("x+"))"#])
        }

        @Test(arguments: ["0b111", "0o17", "0xF", "1_0"])
        func `limits compare numbers in each notation of literals`(number: String) {
            #expect(properties("@Attribute(.max(6)) var a: Int = \(number)") == [#"RecordProperty("a", \Self.a, .max(6))"#])
            #expect(properties("@Attribute(.min(-6)) var a: Int = -\(number)") == [#"RecordProperty("a", \Self.a, .min(-6))"#])
            let allowed = #"RecordProperty("a", \Self.a, .max(\#(number)), .default(7 as Int))"#
            #expect(properties("@Attribute(.max(\(number))) var a: Int = 7") == [allowed])
            let refused = #"RecordProperty("a", \Self.a, .max(\#(number)))"#
            #expect(properties("@Attribute(.max(\(number))) var a: Int = 99") == [refused])
        }

        @Test func `a member of a JSON property is not a default`() {
            #expect(properties("@Attribute(.json, .unique) var a: Meta = .empty") == [#"RecordProperty(json: "a", \Self.a, .unique)"#])
        }

        @Test func `the stored name replaces the name in Swift`() {
            #expect(
                properties(#"@Attribute(.named("firstName"), .indexed) var name: String"#) == [
                    #"RecordProperty("firstName", \Self.name, .indexed)"#
                ])
        }

        @Test func `an option that is not a member of PropertyOption is passed on`() {
            #expect(
                properties("@Attribute(titleRule, PropertyOption.unique) var a: Int") == [
                    #"RecordProperty("a", \Self.a, titleRule, PropertyOption.unique)"#
                ])
        }

        @Test func `an inverse is a key path or a string, and nil means no inverse`() {
            #expect(properties(#"@Relationship(inverse: "note") var a: [Item]"#) == [#"RecordProperty("a", \Self.a, .inverse("note"))"#])
            #expect(properties("@Relationship(inverse: nil) var a: [Item]") == [#"RecordProperty("a", \Self.a)"#])
        }

        @Test func `a relationship may be excluded from clones`() {
            #expect(properties("@Relationship(.exclude) var a: [Item]") == [#"RecordProperty("a", \Self.a, .exclude)"#])
        }

        @Test func `one declaration may have several properties`() {
            #expect(
                properties("var a, b: Int, c = 1") == [
                    #"RecordProperty("a", \Self.a)"#, #"RecordProperty("b", \Self.b)"#, #"RecordProperty("c", \Self.c, .default(1))"#,
                ])
        }

        @Test func `a name in backquotes keeps them in Swift and loses them in the store`() {
            #expect(properties("var `default`: Int") == [#"RecordProperty("default", \Self.`default`)"#])
        }

        @Test func `a property of instances may have the name recordSchema`() {
            #expect(properties("var recordSchema: Int") == [#"RecordProperty("recordSchema", \Self.recordSchema)"#])
        }

        @Test func `a static property may have the name ref`() {
            #expect(MacroSource("@Entity struct Note {\n    static let ref = 1\n    var id: UUID\n}").reports.isEmpty)
        }

        @Test func `computed, static and lazy properties are not stored, and observed ones are`() {
            let members = "var a: Int { 1 }\nstatic var b = 1\nvar c: Int { get { 1 } set {} }\nvar d: Int { didSet {} }"
            #expect(properties(members) == [#"RecordProperty("d", \Self.d)"#])
        }

        @Test func `the macro omits requirements that the struct implements itself`() {
            let text = expansion(
                """
                @Entity struct Note {
                    var id: UUID
                    init(from row: inout RecordReader) throws { id = try row.read(0) }
                    mutating func write(to row: inout RecordWriter) throws { try row.write(0, &id) }
                }
                """)
            #expect(text.contains("static let recordSchema"))
            #expect(text.ranges(of: "init(from row").count == 1)
            #expect(text.ranges(of: "mutating func write").count == 1)
        }

        @Test func `a schema of the struct's own is read and written by names`() {
            let text = expansion(
                """
                @Entity struct Note {
                    let id: UUID
                    @Attribute(.named("text")) var body: String
                    @Attribute(.json) var tags: [String]
                    static let recordSchema = RecordSchema<Note>("Note") {
                        RecordProperty("text", \\.body)
                        RecordProperty(json: "tags", \\.tags)
                        RecordProperty("id", \\.id, .identity)
                    }
                }
                """)
            #expect(text.ranges(of: "static let recordSchema").count == 1)
            for line in [
                #"self.id = try row.read("id")"#, #"self.body = try row.read("text")"#, #"self.tags = try row.readJSON("tags")"#,
                #"try row.write("id", constant: self.id)"#, #"try row.write("text", &self.body)"#,
                #"try row.writeJSON("tags", self.tags)"#,
            ] {
                #expect(text.contains(line))
            }
        }

        @Test func `an initializer from a decoder does not replace the generated one`() {
            let text = expansion("@Entity struct Note {\n    var id: UUID\n    init(from decoder: any Decoder) throws { id = UUID() }\n}")
            #expect(text.contains("init(from row: inout RecordReader) throws"))
        }

        @Test(arguments: [
            "Swift.String", "Foundation.Date", "[UInt8]", "Set<Item>", "[Ref<Item>]", "ToMany<Item>", "Shop.Kind", "City?", "Data?",
        ])
        func `a type of the store gets no report`(type: String) {
            #expect(MacroSource("@Entity struct Note {\n    var a: \(type)\n}").reports.isEmpty)
        }

        @Test func `the macro does not check the lists of an entity with a parent`() {
            let source = #"@Entity(parent: Item.self, indexes: [["price"]]) struct Note { var title: String }"#
            #expect(MacroSource(source).reports.isEmpty)
        }
    }
#endif

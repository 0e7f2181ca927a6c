import CambiumModel
import Testing

@Suite struct `Parents and inverses` {
    static let family = """
        "Base":{"abstract":true,"identity":["id"],"attributes":{"id":{"type":"int64"}},"relationships":{"tags":{"to":"Tag","many":true}}},
        "Left":{"parent":"Base","attributes":{"l":{"type":"bool","optional":true}},"unique":[["l","id"]]},
        "Right":{"parent":"Base","attributes":{"r":{"type":"bool"}},"relationships":{"left":{"to":"Left"}}},
        "Leaf":{"parent":"Left","attributes":{"x":{"type":"bool"}},"unique":[["x"],["id"]]}, "Tag":{}
        """

    @Test func `properties are inherited, the parent's first`() throws {
        let schema = try SchemaFixture.schema(Self.family)
        #expect(schema.entity("Leaf")?.attributes.map(\.name) == ["id", "l", "x"])
        #expect(schema.entity("Right")?.attributes.map(\.name) == ["id", "r"])
        #expect(schema.entity("Right")?.relationships.map(\.name) == ["tags", "left"])
        #expect(schema.entity("Leaf")?.attribute("id") === schema.entity("Base")?.attribute("id"))
        #expect(schema.entity("Leaf")?.identity.map(\.name) == ["id"])
        #expect(schema.entity("Base")?.isAbstract == true)
        #expect(schema.entity("Leaf")?.isAbstract == false)
    }

    @Test func `a hierarchy has one root, and each entity a family`() throws {
        let schema = try SchemaFixture.schema(Self.family)
        func names(_ entity: String) -> [String] { (schema.entity(entity)?.family ?? []).sorted().compactMap { schema.entity($0)?.name } }
        #expect(schema.roots.map(\.name) == ["Base", "Tag"])
        #expect(Set(["Base", "Left", "Right", "Leaf"].compactMap { schema.entity($0)?.root }) == [schema.entities[0].number])
        #expect(names("Base") == ["Base", "Left", "Right", "Leaf"])
        #expect(names("Left") == ["Left", "Leaf"])
        #expect(names("Leaf") == ["Leaf"])
        #expect(schema.entity("Leaf")?.parent == schema.entity("Left")?.number)
    }

    @Test func `unique sets are inherited, and the identity is the first of them`() throws {
        let schema = try SchemaFixture.schema(Self.family)
        let leaf = try #require(schema.entity("Leaf"))
        let names = leaf.uniqueSets.map { leaf.names(of: $0) }
        #expect(names == [["id"], ["l", "id"], ["x"], ["id"]])
        #expect(leaf.uniqueSets.map(\.isIdentity) == [true, false, false, false])
        #expect(leaf.uniqueSets.map { schema.entity($0.entity)?.name } == ["Base", "Left", "Leaf", "Leaf"])
    }

    @Test func `a unique set that equals the identity is listed once`() throws {
        let schema = try SchemaFixture.schema(#""E":{"identity":["a"],"attributes":{"a":{"type":"bool"}},"unique":[["a"],["a"]]}"#)
        #expect(schema.entities[0].uniqueSets.map(\.isIdentity) == [true])
    }

    @Test func `a long chain of parents is resolved, and a cycle is refused`() throws {
        let chain = (0..<300).map { "\"E\($0)\":{\($0 == 0 ? "" : "\"parent\":\"E\($0 - 1)\"")}" }.joined(separator: ",")
        #expect(try SchemaFixture.schema(chain).entity("E299")?.root.rawValue == 1)
        let error = SchemaFixture.error(chain.replacing("\"E0\":{}", with: "\"E0\":{\"parent\":\"E299\"}"))
        #expect(SchemaFixture.pointers(error).first == "/entities/E0/parent")
    }

    // MARK: Inverses

    @Test(arguments: [
        (#""to":"F","inverse":"e""#, #""to":"E","inverse":"r""#), (#""to":"F","inverse":"e""#, #""to":"E""#),
        (#""to":"F""#, #""to":"E","inverse":"r""#),
    ])
    func `an inverse that only one side names applies to both sides`(_ words: String, _ back: String) throws {
        let schema = try SchemaFixture.schema(SchemaFixture.relationship(words + #","many":true"#, back: back))
        let r = try #require(schema.entity("E")?.relationship("r"))
        let e = try #require(schema.entity("F")?.relationship("e"))
        #expect(r.inverse == e.number)
        #expect(e.inverse == r.number)
        #expect(schema.links.count == 1)
        #expect((r.link, r.end) == (0, 0))
        #expect((e.link, e.end) == (0, 1))
        #expect(schema.links[0].first.isToMany)
        #expect(!schema.links[0].second.isToMany)
        #expect(!schema.links[0].isSymmetric)
    }

    @Test func `without an inverse the second end is hidden, to-many and unordered`() throws {
        let schema = try SchemaFixture.schema(SchemaFixture.relationship(#""to":"F","many":true,"ordered":true"#))
        #expect(schema.links.count == 2)
        let link = schema.links[0]
        #expect(link.first.isToMany && link.first.isOrdered)
        #expect(link.second.property == nil && link.second.isToMany && !link.second.isOrdered)
        #expect(link.second.root == schema.entity("F")?.root)
        #expect(!link.isSymmetric)
        #expect(schema.entity("E")?.relationship("r")?.inverse == nil)
    }

    @Test(arguments: [true, false])
    func `a relationship may be its own inverse`(_ isToMany: Bool) throws {
        let schema = try SchemaFixture.schema(#""E":{"relationships":{"r":{"to":"E","many":\#(isToMany),"inverse":"r"}}}"#)
        let r = try #require(schema.entity("E")?.relationship("r"))
        #expect(r.inverse == r.number)
        #expect(schema.links.count == 1)
        #expect(schema.links[0].isSymmetric)
        #expect(schema.links[0].first == schema.links[0].second)
        #expect(r.maxCount == (isToMany ? nil : 1))
    }

    @Test func `two relationships of one entity may be each other's inverse`() throws {
        let schema = try SchemaFixture.schema(#""E":{"relationships":{"up":{"to":"E"},"down":{"to":"E","many":true,"inverse":"up"}}}"#)
        #expect(schema.links.count == 1)
        #expect(!schema.links[0].isSymmetric)
        #expect(schema.entity("E")?.relationship("up")?.inverse == schema.entity("E")?.relationship("down")?.number)
        #expect(schema.entity("E")?.relationship("up")?.end == 0)
    }

    @Test func `an inverse is inherited with its relationship`() throws {
        let schema = try SchemaFixture.schema(
            """
            "A":{"relationships":{"b":{"to":"B","inverse":"a"}}},"A2":{"parent":"A"},
            "B":{"relationships":{"a":{"to":"A","many":true}}},"B2":{"parent":"B"}
            """
        )
        #expect(schema.links.count == 1)
        #expect(schema.entity("A2")?.relationship("b") === schema.entity("A")?.relationship("b"))
        #expect(schema.entity("B2")?.relationship("a")?.destination == schema.entity("A")?.number)
    }

    /// Two entities `E` and `F`, the place of the mistake, and a part of the message.
    @Test(arguments: [
        (
            #""E":{"relationships":{"r":{"to":"F","inverse":"e"}}},"F":{"relationships":{"e":{"to":"F"}}}"#,
            "/entities/E/relationships/r/inverse", "not back to 'E'"
        ),
        (
            #""E":{"relationships":{"r":{"to":"F","inverse":"e"},"s":{"to":"F","inverse":"e"}}},"F":{"relationships":{"e":{"to":"E"}}}"#,
            "/entities/E/relationships/s/inverse", "already"
        ),
        (
            #""E":{"relationships":{"r":{"to":"F","inverse":"e"},"s":{"to":"F"}}},"F":{"relationships":{"e":{"to":"E","inverse":"s"}}}"#,
            "/entities/E/relationships/r/inverse", "another inverse, 's'"
        ),
        (
            #""E":{"relationships":{"r":{"to":"E","inverse":"s"},"s":{"to":"E","inverse":"s"}}}"#, "/entities/E/relationships/r/inverse",
            "another inverse"
        ),
        (
            #""P":{"relationships":{"e":{"to":"E"}}},"F":{"parent":"P"},"E":{"relationships":{"r":{"to":"F","inverse":"e"}}}"#,
            "/entities/E/relationships/r/inverse", "'P' declares 'e'"
        ),
        (
            #""E":{"attributes":{"e":{"type":"bool"}},"relationships":{"r":{"to":"E","inverse":"e"}}}"#,
            "/entities/E/relationships/r/inverse", "no relationship 'e'"
        ),
        (
            #""E":{"relationships":{"r":{"to":"E","many":true,"ordered":true,"inverse":"r"}}}"#, "/entities/E/relationships/r/inverse",
            "order of its own"
        ),
    ])
    func `an inverse that does not fit is refused`(_ entities: String, _ pointer: String, _ word: String) throws {
        let error = try #require(SchemaFixture.error(entities))
        #expect(error.place?.pointer == pointer)
        #expect(error.description.contains(word), "\(error)")
    }
}

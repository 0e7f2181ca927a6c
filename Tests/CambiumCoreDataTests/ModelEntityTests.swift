import CambiumCoreData
import CambiumModel
import Testing

struct ModelEntityTests {
    private static let attributes = "<attribute name='a' attributeType='String'/><attribute name='b' attributeType='String'/>"

    private func constraint(_ names: String...) -> String {
        let values = names.map { "<constraint value='\($0)'/>" }.joined()
        return "<uniquenessConstraint>\(values)</uniquenessConstraint>"
    }

    private func thing(_ inside: String) throws -> (entity: EntityDefinition?, warnings: [String]) {
        let definition = try ModelFixture.definition("<entity name='Thing'>\(Self.attributes)\(inside)</entity>")
        return (definition.entities.first, definition.warnings)
    }

    @Test func `a model becomes a schema`() throws {
        let definition = try ModelFixture.definition(
            """
            <entity name="Thing" isAbstract="YES" representedClassName="T" syncable="YES" codeGenerationType="class">
              <attribute name="id" attributeType="UUID"/>
            </entity>
            <entity name="Shelf" parentEntity="Thing" elementID="Rack">
              <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book" inverseName="shelf" inverseEntity="Book"/>
              <attribute name="label" attributeType="String"/>
            </entity>
            <entity name="Book" parentEntity="Thing">
              <relationship name="shelf" maxCount="1" destinationEntity="Shelf" inverseName="books" inverseEntity="Shelf"/>
            </entity>
            <elements><element name="Thing" positionX="0" positionY="0" width="0" height="0"/></elements>
            """)
        #expect(definition.warnings.isEmpty)
        let schema = try Schema(definition)
        #expect(schema.entities.map(\.name) == ["Thing", "Shelf", "Book"])
        #expect(schema.entity("Thing")?.isAbstract == true)
        #expect(schema.entity("Book")?.attributes.map(\.name) == ["id"])
        #expect(definition.entities[1].formerName == "Rack")
        #expect(schema.links.count == 1)
    }

    @Test func `a single uniqueness constraint becomes the identity`() throws {
        let (entity, warnings) = try thing("<uniquenessConstraints>\(constraint("b", "a"))</uniquenessConstraints>")
        #expect(entity?.identity == ["b", "a"])
        #expect(entity?.unique == [])
        #expect(warnings.isEmpty)
    }

    @Test func `several uniqueness constraints do not become an identity`() throws {
        let (entity, _) = try thing("<uniquenessConstraints>\(constraint("a"))\(constraint("a", "b"))</uniquenessConstraints>")
        #expect(entity?.identity == [])
        #expect(entity?.unique == [["a"], ["a", "b"]])
    }

    @Test func `the user info can name the identity`() throws {
        let (entity, warnings) = try thing(
            "<uniquenessConstraints>\(constraint("a", "b"))\(constraint("b"))</uniquenessConstraints>"
                + "<userInfo><entry key='cambium.identity' value='a, b'/></userInfo>")
        #expect(entity?.identity == ["a", "b"])
        #expect(entity?.unique == [["b"]])
        #expect(warnings.isEmpty)
    }

    @Test func `the order of attributes does not distinguish uniqueness constraints`() throws {
        let constraints = "<uniquenessConstraints>\(constraint("a", "b"))\(constraint("b", "a"))</uniquenessConstraints>"
        let (entity, _) = try thing(constraints)
        #expect(entity?.identity == ["a", "b"] && entity?.unique == [])
        let (named, _) = try thing(constraints + "<userInfo><entry key='cambium.identity' value='b, a'/></userInfo>")
        #expect(named?.identity == ["b", "a"] && named?.unique == [])
    }

    @Test func `a family has one identity`() throws {
        let unique = "<uniquenessConstraints>\(constraint("a"))</uniquenessConstraints>"
        let definition = try ModelFixture.definition(
            """
            <entity name='Child' parentEntity='Root'><attribute name='c' attributeType='String'/>
            <uniquenessConstraints>\(constraint("c"))</uniquenessConstraints></entity>
            <entity name='Root'>\(Self.attributes)\(unique)</entity>
            """)
        #expect(definition.entities.map(\.identity) == [[], ["a"]])
        #expect(definition.entities.map(\.unique) == [[["c"]], []])
    }

    @Test func `an identity of a sub-entity keeps the constraint of its parent`() throws {
        let definition = try ModelFixture.definition(
            """
            <entity name='Root'>\(Self.attributes)<uniquenessConstraints>\(constraint("a"))</uniquenessConstraints></entity>
            <entity name='Child' parentEntity='Root'><userInfo><entry key='cambium.identity' value='b'/></userInfo></entity>
            """)
        #expect(definition.entities.map(\.identity) == [[], ["b"]])
        #expect(definition.entities.map(\.unique) == [[["a"]], []])
    }

    @Test func `indexes of every spelling are carried over once`() throws {
        let definition = try ModelFixture.definition(
            """
            <entity name='Thing'><attribute name='a' attributeType='String' indexed='YES'/><attribute name='b' attributeType='String'/>
            <compoundIndexes><compoundIndex><index value='a'/><index value='b'/></compoundIndex></compoundIndexes>
            <fetchIndex name='byA'><fetchIndexElement property='a' type='Binary' order='ascending'/></fetchIndex>
            <fetchIndex name='byB'><fetchIndexElement property='b' type='Binary' order='descending'/></fetchIndex></entity>
            """)
        #expect(definition.entities.first?.indexes == [["a"], ["a", "b"], ["-b"]])
        #expect(definition.warnings.isEmpty)
    }

    @Test func `an attribute that a set repeats is read once`() throws {
        let element = { (order: String) in "<fetchIndexElement property='a' type='Binary' order='\(order)'/>" }
        let (entity, warnings) = try thing(
            "<fetchIndex name='i'>\(element("descending"))\(element("ascending"))</fetchIndex>"
                + "<uniquenessConstraints>\(constraint("a", "b", "a"))\(constraint("b", "b"))</uniquenessConstraints>")
        let kept = try #require(entity)
        #expect(kept.indexes == [["-a"]] && kept.unique == [["a", "b"], ["b"]] && warnings.isEmpty)
        _ = try Schema { kept }
    }

    @Test(
        arguments: [
            ("<fetchIndex name='i'><fetchIndexElement property='a' type='RTree'/></fetchIndex>", [["a"]]),
            ("<fetchIndex name='i' partialIndexPredicate='a != nil'><fetchIndexElement property='a' type='Binary'/></fetchIndex>", [["a"]]),
            ("<fetchIndex name='i'><fetchIndexElement expression='length(a)' type='Binary'/></fetchIndex>", []),
            ("<fetchIndex name='i'><fetchIndexElement property='gone' type='Binary'/></fetchIndex>", []),
            ("<fetchIndex name='i'><fetchIndexElement property='a' type='Binary' order='random'/></fetchIndex>", [["a"]]),
        ] as [(String, [[String]])])
    func `indexes that are not carried over completely cause a warning`(text: String, indexes: [[String]]) throws {
        let (entity, warnings) = try thing(text)
        #expect(entity?.indexes == indexes)
        #expect(warnings.count == 1)
    }

    @Test(arguments: [("", [["r"]], 0), (" toMany='YES'", [], 1)] as [(String, [[String]], Int)])
    func `a uniqueness constraint with a relationship stays a constraint if the identity would need itself`(
        count: String, unique: [[String]], warningCount: Int
    ) throws {
        let (entity, warnings) = try thing(
            "<relationship name='r'\(count) destinationEntity='Thing' optional='YES'/>"
                + "<uniquenessConstraints>\(constraint("r"))</uniquenessConstraints>"
        )
        #expect(entity?.unique == unique && entity?.identity == [])
        #expect(warnings.count == warningCount)
    }

    @Test func `a single uniqueness constraint with relationships becomes the identity`() throws {
        func entity(_ name: String, _ set: String, _ inside: String) -> String {
            "<entity name='\(name)'>\(inside)<uniquenessConstraints>\(set)</uniquenessConstraints></entity>"
        }
        let name = "<attribute name='name' attributeType='String'/>"
        let links = ["club", "person"].map { "<relationship name='\($0)' maxCount='1' destinationEntity='\($0.capitalized)'/>" }.joined()
        let definition = try ModelFixture.definition(
            entity("Club", constraint("name"), name) + entity("Person", constraint("name"), name)
                + entity("Membership", constraint("club", "person"), links))
        #expect(definition.entities.map(\.identity) == [["name"], ["name"], ["club", "person"]])
        #expect(definition.entities.allSatisfy { $0.unique.isEmpty })
        #expect(try Schema(definition).entity("Membership")?.identityValues.map(\.name) == ["club.name", "person.name"])
    }

    @Test(arguments: [
        "<fetchRequest name='f' entity='B'/>", "<configuration name='c'><memberEntity name='A'/></configuration>", "<future/>",
    ])
    func `parts of a model without a counterpart cause one warning`(text: String) throws {
        let definition = try ModelFixture.definition("<entity name='A'/>\(text)\(text)")
        #expect(definition.entities.map(\.name) == ["A"])
        #expect(definition.warnings.count == 1)
    }

    @Test func `settings of a model or an entity without a counterpart cause warnings`() throws {
        let definition = try ModelFixture.definition(
            "<entity name='A' coreSpotlightDisplayNameExpression='x'><fetchedProperty name='f'/></entity>", model: "usedWithCloudKit='YES'")
        #expect(definition.warnings.count == 3)
    }

    @Test(arguments: [
        "macOSVersion='Automatic' iOSVersion='7.0'", "tvOSVersion='9.0' watchOSVersion='2.0'", "usedWithCloudKit='false'",
        "usedWithSwiftData='YES'",
    ])
    func `settings of Xcode cause no warnings`(settings: String) throws {
        #expect(try ModelFixture.definition("<entity name='A'/>", model: settings).warnings == [])
    }

    @Test func `a cycle of parents is left to the schema`() throws {
        let definition = try ModelFixture.definition(
            "<entity name='A' parentEntity='B'>\(Self.attributes)<uniquenessConstraints>\(constraint("a"))</uniquenessConstraints></entity>"
                + "<entity name='B' parentEntity='A'/>")
        #expect(definition.entities.map(\.parent) == ["B", "A"])
        #expect(throws: CambiumError.self) { try Schema(definition) }
    }
}

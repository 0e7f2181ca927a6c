import CambiumCoreData
import CambiumModel
import Testing

struct ModelRelationshipTests {
    @Test(arguments: [
        ("optional='YES' maxCount='1'", RelationshipDefinition.Cardinality.toOne), ("optional='YES' toMany='YES'", .toMany),
        ("optional='YES' toMany='YES' ordered='YES'", .orderedToMany),
    ])
    func `cardinalities are carried over`(words: String, cardinality: RelationshipDefinition.Cardinality) throws {
        let (relationship, warnings) = try ModelFixture.relationship(words)
        #expect(relationship?.destination == "Thing")
        #expect(relationship?.cardinality == cardinality)
        #expect(relationship?.inverse == nil)
        #expect(relationship?.minCount == nil)
        #expect(relationship?.maxCount == nil)
        #expect(warnings.isEmpty)
    }

    @Test(
        arguments: [
            ("maxCount='1'", 1, Int?.none), ("toMany='YES'", nil, nil), ("toMany='YES' minCount='0' maxCount='0'", nil, nil),
            ("toMany='YES' minCount='1'", 1, nil), ("toMany='YES' ordered='YES'", nil, nil),
            ("toMany='YES' minCount='2' maxCount='5'", 2, 5), ("optional='YES' toMany='YES' maxCount='5'", nil, 5),
            ("optional='YES' minCount='1' maxCount='1'", nil, nil),
        ] as [(String, Int?, Int?)])
    func `counts are carried over`(words: String, least: Int?, most: Int?) throws {
        let (relationship, warnings) = try ModelFixture.relationship(words)
        #expect(relationship?.minCount == least)
        #expect(relationship?.maxCount == most)
        #expect(warnings.isEmpty)
    }

    @Test(arguments: [
        ("Nullify", DeleteRule.nullify), ("Cascade", .cascade), ("Deny", .deny), ("No Action", .noAction), ("", .nullify),
    ])
    func `deletion rules are carried over`(name: String, rule: DeleteRule) throws {
        let (relationship, warnings) = try ModelFixture.relationship("optional='YES' deletionRule='\(name)'")
        #expect(relationship?.deleteRule == rule)
        #expect(warnings.isEmpty)
    }

    @Test func `inverses and former names are carried over`() throws {
        let (relationship, warnings) = try ModelFixture.relationship("inverseName='r' inverseEntity='Thing' renamingIdentifier='old'")
        #expect(relationship?.inverse == "r")
        #expect(relationship?.formerName == "old")
        #expect(warnings.isEmpty)
    }

    @Test func `user info is carried over`() throws {
        let info = "<userInfo><entry key='clone' value='skip'/><entry key='exclude'/></userInfo>"
        let definition = try ModelFixture.definition(
            "<entity name='Thing'><relationship name='r' destinationEntity='Thing' optional='YES'>\(info)</relationship></entity>")
        #expect(definition.entities.first?.relationships.first?.userInfo == ["clone": "skip", "exclude": ""])
        #expect(definition.warnings.isEmpty)
    }

    @Test(arguments: [
        "inverseName='r' inverseEntity='Other'", "transient='YES'", "ordered='YES'", "deletionRule='Explode'",
        "optional='YES' toMany='YES' minCount='2'", "maxCount='3'", "toMany='YES' maxCount='-1'", "toMany='YES' minCount='x'",
        "spotlightIndexingEnabled='YES'",
    ])
    func `parts of a relationship that cannot be carried over cause a warning`(words: String) throws {
        let (relationship, warnings) = try ModelFixture.relationship(words)
        #expect(relationship != nil)
        #expect(warnings.count == 1)
        #expect(warnings.first?.hasPrefix("Thing.r: ") == true)
    }

    @Test func `a relationship without a destination is refused with its place`() {
        let error = ModelFixture.error("<model>\n<entity name='A'><relationship name='r'/></entity></model>")
        #expect(error?.code == .invalidInput)
        #expect(error?.place?.line == 2)
    }
}

import CambiumModel
import Testing

@testable import CambiumCoreData

/// Fetched properties and fetch request templates.
@Suite struct ModelQueryTests {
    private static let note = """
        <entity name='Note'><attribute name='title' attributeType='String'/><attribute name='done' attributeType='Boolean'/>
        <attribute name='rank' optional='YES' attributeType='Integer 16'/>
        <relationship name='items' toMany='YES' optional='YES' destinationEntity='Item' inverseName='note' inverseEntity='Item'/>
        """
    private static let item = """
        <entity name='Item'><attribute name='name' optional='YES' attributeType='String'/>
        <relationship name='note' optional='YES' destinationEntity='Note' inverseName='items' inverseEntity='Note'/></entity>
        <entity name='Memo' parentEntity='Item'><attribute name='text' optional='YES' attributeType='String'/></entity>
        """

    private func definition(inNote: String = "", inModel: String = "") throws -> SchemaDefinition {
        let definition = try ModelFixture.definition("\(Self.note)\(inNote)</entity>\(Self.item)\(inModel)")
        _ = try Schema(definition)
        return definition
    }

    private func fetched(_ predicate: String, _ words: String = "", entity: String = "Item", rest: String = "") throws -> SchemaDefinition {
        try definition(
            inNote: "<fetchedProperty name='found' optional='YES' syncable='YES'>"
                + "<fetchRequest name='fetchedPropertyFetchRequest' entity='\(entity)' predicateString='\(predicate)' \(words)/>\(rest)"
                + "</fetchedProperty>")
    }

    @Test(arguments: [
        ("note == $FETCH_SOURCE", "note == $source"), ("name == $FETCH_SOURCE.title", "name == $source.title"),
        ("name LIKE[cd] &quot;a*&quot; &amp;&amp; NOT (note.title = $TITLE)", #"name like[cd] "a*" and not note.title == $TITLE"#),
        ("self IN $FETCH_SOURCE.items", "self in $source.items"),
        ("note.done == 1 OR note.done != NO", "note.done == true or note.done != false"),
        ("note.done IN {1, 0} AND note.rank IN {1, 0}", "note.done in {true, false} and note.rank in {1, 0}"),
        ("note.rank == 1", "note.rank == 1"), ("name == $FETCHED_PROPERTY.name", #"name == "found""#), ("TRUEPREDICATE", "true"),
        ("name == &quot;$FETCH_SOURCE&quot;", #"name == "$FETCH_SOURCE""#),
        ("name IN {$FETCH_SOURCE.title, nil}", "name in {$source.title, null}"),
    ])
    func `a fetched property becomes a query with a source`(predicate: String, condition: String) throws {
        let definition = try fetched(predicate)
        #expect(definition.warnings == [])
        #expect(definition.entities[0].queries == [QueryDefinition("found", of: "Item", where: condition)])
    }

    @Test(arguments: [
        ("name == $FETCHED_PROPERTY.userInfo.key", "no equivalent of '$FETCHED_PROPERTY.userInfo.key'"),
        ("SUBQUERY(note.items, $x, $x.name == nil).@count &gt; 0", "its predicate has no equivalent at column 9: Expected a relation"),
        ("CAST(3, &quot;NSDate&quot;) == name", "its predicate has no equivalent at column 5"), ("titel == 1", "does not fit the model"),
        ("name == $FETCH_SOURCE.titel", "'Note' has no attribute or relationship 'titel'"), ("name == $FETCH_SOURCE.rank", "is a number"),
        ("name == $source", "a variable '$source'"), ("name MATCHES &quot;(?=a)&quot;", "regular expression"),
        ("ANY name == nil", "one value only"),
    ])
    func `a predicate without an equivalent causes a warning`(predicate: String, reason: String) throws {
        let definition = try fetched(predicate)
        #expect(definition.entities[0].queries == [])
        #expect(definition.warnings.count == 1)
        #expect(definition.warnings.first?.contains("Note.found: the query is ignored; ") == true)
        #expect(definition.warnings.first?.contains(reason) == true, "\(definition.warnings)")
    }

    @Test func `the user info of a fetched property stands in its predicate`() throws {
        let info = "<userInfo><entry key='which' value='a&quot;b'/></userInfo>"
        let definition = try fetched("name == $FETCHED_PROPERTY.userInfo.which", rest: info)
        #expect(definition.entities[0].queries.first?.condition == #"name == "a\"b""#)
        #expect(definition.warnings == [])
    }

    @Test func `user info to which the predicate of a fetched property does not refer causes a warning`() throws {
        let info = "<userInfo><entry key='which' value='a'/><entry key='whichever' value='b'/></userInfo>"
        let definition = try fetched("name == $FETCHED_PROPERTY.userInfo.whichever", rest: info)
        #expect(definition.warnings == ["Note.found: the user info 'which' is ignored; a query of a schema has no user info."])
    }

    @Test func `an expression in a predicate that RE2 reads differently causes a warning`() throws {
        let definition = try fetched("name MATCHES &quot;\\\\w+&quot; OR name LIKE &quot;[[a]]&quot;")
        #expect(definition.entities[0].queries.count == 1)
        #expect(definition.warnings == [#"Note.found: its predicate is kept, but '\w' considers only ASCII characters in RE2."#])
    }

    @Test func `a fetched property of a parent finds objects of the parent for a source of a sub-entity`() throws {
        let request = "<fetchRequest name='fetchedPropertyFetchRequest' entity='Item' predicateString='name == $FETCH_SOURCE.name'/>"
        let property = "<fetchedProperty name='alike' optional='YES'>\(request)</fetchedProperty>"
        let definition = try ModelFixture.definition(
            "<entity name='Item'><attribute name='name' attributeType='String'/>\(property)</entity>"
                + "<entity name='Memo' parentEntity='Item'/>")
        #expect(definition.warnings == [])
        #expect(definition.entities[0].queries == [QueryDefinition("alike", of: "Item", where: "name == $source.name")])
    }

    @Test func `a fetch request template becomes a query of its entity`() throws {
        let definition = try definition(
            inModel: "<fetchRequest name='Top' entity='Note' predicateString='rank &gt; $MIN' fetchLimit='5' fetchBatchSize='20'/>"
                + "<fetchRequest name='All' entity='Note'/>")
        #expect(definition.warnings == [])
        #expect(definition.entities[0].queries == [QueryDefinition("Top", where: "rank > $MIN", limit: 5), QueryDefinition("All")])
    }

    @Test func `a request without sub-entities compares the entity`() throws {
        let alone = try fetched("name == nil", "includeSubentities='NO'")
        #expect(alone.entities[0].queries.first?.condition == #"_entity == "Item" and name == null"#)
        let leaf = try fetched("name == nil", "includeSubentities='NO'", entity: "Memo")
        #expect(leaf.entities[0].queries.first?.condition == "name == null")
        #expect(try fetched("name == nil", "includeSubentities='YES'").entities[0].queries.first?.condition == "name == null")
    }

    @Test(arguments: [
        ("<fetchRequest name='f' entity='Gone'/>", "no entity 'Gone'"), ("<fetchRequest name='f'/>", "it has no entity"),
        ("<fetchRequest name='title' entity='Note'/>", "a property or a query with this name"),
        ("<fetchRequest name='text' entity='Item'/>", "'Item', or another entity of its hierarchy"),
        ("<fetchRequest name='a b' entity='Note'/>", "begin with a letter"),
        ("<fetchRequest name='f' entity='Note'/><fetchRequest name='f' entity='Note' fetchLimit='1'/>", "with this name"),
        ("<fetchRequest name='f' entity='Note' returnDistinctResults='YES'/>", "'returnDistinctResults' is ignored"),
        ("<fetchRequest name='f' entity='Note' fetchLimit='x'/>", "'fetchLimit' is ignored"),
    ])
    func `a request that a schema cannot have as it is causes a warning`(text: String, reason: String) throws {
        let definition = try definition(inModel: text)
        #expect(definition.warnings.count == 1)
        #expect(definition.warnings.first?.contains(reason) == true, "\(definition.warnings)")
    }

    @Test func `a model has at most 1,000 queries`() throws {
        let requests = (0...1000).map { "<fetchRequest name='f\($0)' entity='Note' predicateString='titel == \($0)'/>" }
        let definition = try definition(inModel: requests.joined())
        #expect(definition.warnings.count == 1001)
        #expect(definition.warnings.count { $0.hasSuffix("a model has at most 1000 queries.") } == 1)
    }

    @Test func `a fetched property without a request causes a warning`() throws {
        let definition = try definition(
            inNote: "<fetchedProperty name='found'/><fetchedProperty name='other'><fetchRequest/></fetchedProperty>")
        #expect(definition.warnings.count == 2)
        #expect(definition.entities[0].queries == [])
    }
}

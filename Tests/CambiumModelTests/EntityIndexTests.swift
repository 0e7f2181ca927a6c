import CambiumModel
import Testing

@Suite struct EntityIndexTests {
    private func schema() throws -> Schema {
        var definition = SchemaDefinition {
            EntityDefinition("Person") {
                AttributeDefinition("name", .string)
                AttributeDefinition("born", .int32)
            }
            EntityDefinition("Worker", parent: "Person") { AttributeDefinition("badge", .int64) }
        }
        definition.entities[0].indexes = [["name[c]", "-born"], ["name"], ["name[c]", "-born"]]
        definition.entities[1].indexes = [["-name[c]", "badge"]]
        return try Schema(definition)
    }

    @Test func `a minus reverses the order, and a c in brackets folds the case`() throws {
        let person = try #require(try schema().entity("Person"))
        let (name, born) = (person.attributes[0].number, person.attributes[1].number)
        #expect(
            person.indexes.map(\.components) == [
                [.init(name, .ascending, .folded), .init(born, .descending)], [.init(name)],
            ])
    }

    @Test func `a sub-entity has the indexes of its parent and its own`() throws {
        let schema = try schema()
        let (person, worker) = (try #require(schema.entity("Person")), try #require(schema.entity("Worker")))
        #expect(worker.indexes.map(\.entity) == [person.number, person.number, worker.number])
        #expect(worker.indexes.last?.components.first?.direction == .descending)
    }

    @Test func `an index keeps its spelling in JSON and through a renaming`() throws {
        let schema = try schema()
        let again = try Schema(catalog: schema.catalog)
        #expect(again.entity("Person")?.indexes == schema.entity("Person")?.indexes)
        var renamed = schema.definition
        renamed.entities[0].attributes[0].name = "title"
        renamed.entities[0].attributes[0].formerName = "name"
        renamed.entities[0].indexes = [["title[c]", "-born"], ["title"], ["title[c]", "-born"]]
        renamed.entities[1].indexes = [["-title[c]", "badge"]]
        let changes = try SchemaMigration(from: schema, to: renamed).changes
        #expect(changes.map(\.kind) == [.renamed])
    }
}

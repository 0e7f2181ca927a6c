import Cambium
import TestFixtures
import Testing

/// Exports of entities whose sub-entities have different properties with one name.
@Suite struct ExportSiblingTests {
    private static func store() throws -> Store {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Media", identity: ["id"]) { AttributeDefinition("id", .int64) }
                EntityDefinition("Book", parent: "Media") {
                    RelationshipDefinition("maker", to: "Person")
                    RelationshipDefinition("parts", to: "Person", .toMany)
                    RelationshipDefinition("owner", to: "Person")
                    RelationshipDefinition("label", to: "Person")
                }
                EntityDefinition("Film", parent: "Media") {
                    AttributeDefinition("label", .string, .optional)
                    RelationshipDefinition("maker", to: "Studio")
                    RelationshipDefinition("parts", to: "Person")
                    RelationshipDefinition("owner", to: "Person")
                }
                EntityDefinition("Person", identity: ["name"]) { AttributeDefinition("name", .string) }
                EntityDefinition("Studio", identity: ["name"]) {
                    AttributeDefinition("name", .string)
                    RelationshipDefinition("head", to: "Person")
                }
            })
        try store.importing("Media", #"{"_entity":"Book","id":1,"maker":"Ana","parts":["Bo"],"owner":"Cy","label":"Di"}"#)
        try store.importing(
            "Media", #"{"_entity":"Film","id":2,"maker":{"name":"A24","head":{"name":"Eve"}},"parts":"Flo","owner":"Cy","label":"red"}"#)
        return store
    }

    @Test func `a path may begin with relationships of several sub-entities, which lead to different entities`() throws {
        // The order of the entities in a set differs between schemas, so one attempt could succeed by chance.
        for _ in 0..<8 {
            let graph = try Self.store().graph
            let media = try graph.exported("Media", including: ["maker.head"]) { $0.references = .identity }
            #expect(media.contains(#""maker":{"name":"A24","head":{"name":"Eve"}}"#))
            #expect(code { _ = try graph.exported("Media", including: ["maker.name"]) } == .unknownName)
        }
    }

    @Test(arguments: ["maker", "parts", "label"])
    func `CSV is refused if its columns could not contain all included objects`(name: String) throws {
        let graph = try Self.store().graph
        func exported(_ entity: String, _ names: [String]) throws -> String {
            try graph.exported(entity, including: names) { ($0.format, $0.references) = (.csv, .identity) }
        }
        #expect(code { _ = try exported("Media", [name]) } == .invalidInput)
        let film = "id,label,maker.name,maker.head,parts.name,owner\r\n2,red,A24,Eve,Flo,Cy\r\n"
        #expect(try exported("Film", ["maker", "parts"]) == film)
        #expect(try exported("Media", []).contains("Film,2,A24,Flo,Cy,red\r\n"))
        #expect(try exported("Media", ["owner"]).hasPrefix("_entity,id,maker,parts,owner.name,label\r\n"))
    }
}

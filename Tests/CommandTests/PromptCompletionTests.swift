import Cambium
import Testing

@testable import CambiumCommand

@Suite struct PromptCompletionTests {
    private static let schema = Result<Schema, CambiumError> { () throws(CambiumError) in
        try Schema {
            EntityDefinition("Note", identity: ["id"]) {
                AttributeDefinition("id", .int64)
                AttributeDefinition("title", .string, default: "")
                RelationshipDefinition("items", to: "Item", .toMany, inverse: "note")
                QueryDefinition("titled", where: "title == $title")
                QueryDefinition("parts", of: "Item", where: "note == $source")
            }
            EntityDefinition("Item") {
                AttributeDefinition("name", .string, .optional)
                AttributeDefinition("nature", .string, .optional)
                RelationshipDefinition("note", to: "Note", inverse: "items")
            }
        }
    }

    private func candidates(_ text: String) throws -> [String] { PromptCompletion(text, try Self.schema.get()).candidates }

    @Test func `a line begins with an entity or a command`() throws {
        #expect(try candidates("N") == ["Note"])
        #expect(try candidates("s") == ["schema", "set", "show"])
        #expect(try candidates("explain ") == ["Item", "Note"])
        #expect(try candidates("").contains("help") && candidates("").contains("Item"))
    }

    @Test func `stored queries are completed, and paths begin at the objects that they find`() throws {
        #expect(try candidates("Note query ") == ["parts", "titled"])
        #expect(try candidates("Note query t") == ["titled"])
        #expect(try candidates("Note query parts where na") == ["name", "nature"])
        #expect(try candidates("Note query titled sort ti") == ["title"])
        #expect(try candidates("Item query ").isEmpty)
    }

    @Test func `paths are completed name by name`() throws {
        #expect(try candidates("Note where ti") == ["title"])
        #expect(try candidates("Note where any it") == ["items"])
        #expect(try candidates("Note select items.na") == ["items.name", "items.nature"])
        #expect(try candidates("Note sort -items.@c") == ["items.@count", "items.@countDistinct."])
        #expect(try candidates("Note sum items.@sum.na") == ["items.@sum.name", "items.@sum.nature"])
        #expect(try candidates("Item select note.items.note.t") == ["note.items.note.title"])
        #expect(try candidates("Note where any items where (na") == ["name", "nature"])
        #expect(try candidates("Note where any items where (name == null) and ti") == ["title"])
        #expect(try candidates("Note where title.x").isEmpty)
    }

    @Test func `words follow where no name may stand`() throws {
        #expect(try candidates("Note w") == ["where"])
        #expect(try candidates("Note where title == \"x\" a") == ["and", "avg"])
        #expect(try candidates("Note where title begins") == ["beginswith"])
        #expect(try candidates("Note where title b") == ["beginswith", "between"])
        #expect(try candidates("Note group b") == ["by"])
        #expect(try candidates("Note count gr") == ["group"])
        #expect(try candidates("Note where title == \"ti").isEmpty)
        #expect(try candidates("Nothing where ti").isEmpty)
        #expect(try candidates("at y") == ["yesterday"])
        #expect(try candidates("show Note/1 include it") == ["items"])
    }

    @Test func `the completion has the place of the word and the common beginning`() throws {
        let completion = PromptCompletion("Note select items.na", try Self.schema.get())
        #expect(completion.start == 12 && completion.commonPrefix == "items.na" && completion.word == "items.na")
    }
}

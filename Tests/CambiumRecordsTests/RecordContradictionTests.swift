import Cambium
import CambiumModel
import TestFixtures
import Testing

/// Records whose declarations do not form a schema.
@Suite struct RecordContradictionTests {
    @Test func `a name that a record lists for two properties is a mistake`() throws {
        struct Card: BlankRecord {
            var front = ""
            var back = ""
            var ref: Ref<Card>?
            static let recordSchema = RecordSchema<Card>("Card") {
                RecordProperty("front", \.front)
                RecordProperty("front", \.back)
            }
        }
        let error = try #require(throws: CambiumError.self) { try Schema(of: Card.self) }
        #expect(error.code == .invalidInput)
        #expect(error.details.count == 1)
    }

    @Test func `views of one entity may state different options, but not the same option with another value`() throws {
        struct Card: BlankRecord {
            var front = ""
            var next: [Ref<Card>] = []
            var ref: Ref<Card>?
            static let recordSchema = RecordSchema<Card>("Card") {
                RecordProperty("front", \.front, .maxLength(40), .default("?"), .userInfo(["a": "b"]))
                RecordProperty("next", \.next, .onDelete(.cascade))
            }
        }
        struct Same: BlankRecord {
            var front = ""
            var next: [Ref<Card>] = []
            var ref: Ref<Same>?
            static let recordSchema = RecordSchema<Same>("Card") {
                RecordProperty("front", \.front, .maxLength(40), .minLength(1), .default("!"), .userInfo(["c": "d"]))
                RecordProperty("next", \.next)
            }
        }
        struct Other: BlankRecord {
            var front = ""
            var next: [Ref<Card>] = []
            var ref: Ref<Other>?
            static let recordSchema = RecordSchema<Other>("Card") {
                RecordProperty("front", \.front, .maxLength(80), .userInfo(["a": "d"]))
                RecordProperty("next", \.next, .onDelete(.deny))
            }
        }
        let card = try #require(try Schema(of: Card.self, Same.self).entity("Card"))
        #expect(card.attribute("front")?.userInfo == ["a": "b", "c": "d"])
        #expect(card.attribute("front")?.defaultValue == "!")
        let error = try #require(throws: CambiumError.self) { try Schema(of: Card.self, Other.self) }
        #expect(error.details.count == 3)
        #expect(error.details.allSatisfy { $0.contains("Other.") && $0.contains("Card.") })
    }

    private struct Party: BlankRecord {
        var cards: [Ref<Badge>] = []
        var ref: Ref<Party>?
        static let recordSchema = RecordSchema<Party>("Party") { RecordProperty("cards", \.cards) }
    }

    private struct Badge: BlankRecord {
        var party: Ref<Party>?
        var guest: Ref<Party>?
        var ref: Ref<Badge>?
        static let recordSchema = RecordSchema<Badge>("Badge") {
            RecordProperty("party", \.party, .inverse("cards"))
            RecordProperty("guest", \.guest)
        }
    }

    @Test func `an inverse that only a record of a sub-entity states for an inherited relationship is a mistake`() throws {
        struct Same: BlankRecord {
            var cards: [Ref<Badge>] = []
            var ref: Ref<Same>?
            static let recordSchema = RecordSchema<Same>("Same", parent: Party.self) {
                RecordProperty("cards", \.cards, .inverse(\Badge.party))
            }
        }
        struct Other: BlankRecord {
            var cards: [Ref<Badge>] = []
            var ref: Ref<Other>?
            static let recordSchema = RecordSchema<Other>("Other", parent: Party.self) {
                RecordProperty("cards", \.cards, .inverse(\Badge.guest))
            }
        }
        #expect(try Schema(of: Same.self).entity("Same")?.relationship("cards") != nil)
        let error = try #require(throws: CambiumError.self) { try Schema(of: Other.self) }
        #expect(error.details.count == 1)
        #expect(error.details.first?.contains("'Party.cards'") == true)
    }

    @Test func `an inherited property with a type that the parent's property does not have is a mistake`() throws {
        struct Root: BlankRecord {
            var name: String?
            var size = 0
            var cards: [Ref<Badge>] = []
            var guest: Ref<Badge>?
            var next: Ref<Root>?
            var ref: Ref<Root>?
            static let recordSchema = RecordSchema<Root>("Root") {
                RecordProperty("name", \.name)
                RecordProperty("size", \.size)
                RecordProperty("cards", \.cards)
                RecordProperty("guest", \.guest)
                RecordProperty("next", \.next)
            }
        }
        struct Same: BlankRecord {
            var name = ""
            var size: Int16 = 0
            var cards: Set<Ref<Badge>> = []
            var guest: Ref<Badge>?
            var next: Ref<Same>?
            var ref: Ref<Same>?
            static let recordSchema = RecordSchema<Same>("Same", parent: Root.self) {
                RecordProperty("name", \.name)
                RecordProperty("size", \.size)
                RecordProperty("cards", \.cards)
                RecordProperty("guest", \.guest)
                RecordProperty("next", \.next)
            }
        }
        struct Other: BlankRecord {
            var name = 0
            var size = 0.5
            var cards: Ref<Badge>?
            var guest = ""
            var next: Ref<Badge>?
            var ref: Ref<Other>?
            static let recordSchema = RecordSchema<Other>("Other", parent: Root.self) {
                RecordProperty("name", \.name)
                RecordProperty("size", \.size)
                RecordProperty("cards", \.cards)
                RecordProperty("guest", \.guest)
                RecordProperty("next", \.next)
            }
        }
        #expect(try Schema(of: Same.self).entity("Same")?.attribute("size")?.type == .int64)
        let error = try #require(throws: CambiumError.self) { try Schema(of: Other.self) }
        #expect(error.details.count == 5)
        #expect(error.details.allSatisfy { $0.contains("Other.") && $0.contains("'Root.") })
    }

    @Test func `views of one entity with different parents, former names or texts are a mistake`() throws {
        struct Root: BlankRecord {
            var name = ""
            var ref: Ref<Root>?
            static let recordSchema = RecordSchema<Root>("Root") { RecordProperty("name", \.name) }
        }
        struct First: BlankRecord {
            var name = ""
            var ref: Ref<First>?
            static let recordSchema = RecordSchema<First>("Leaf", parent: Root.self, userInfo: ["a": "b"], renamedFrom: "Twig") {
                RecordProperty("name", \.name)
            }
        }
        struct Partial: BlankRecord {
            var name = ""
            var ref: Ref<Partial>?
            static let recordSchema = RecordSchema<Partial>("Leaf", userInfo: ["a": "b", "c": "d"]) { RecordProperty("name", \.name) }
        }
        struct Second: BlankRecord {
            var size = 0
            var ref: Ref<Second>?
            static let recordSchema = RecordSchema<Second>("Leaf", parent: Party.self, userInfo: ["a": "c"], renamedFrom: "Stem") {
                RecordProperty("size", \.size)
            }
        }
        #expect(try Schema(of: First.self, Partial.self).entity("Leaf")?.userInfo == ["a": "b", "c": "d"])
        let error = try #require(throws: CambiumError.self) { try Schema(of: First.self, Second.self) }
        #expect(error.details.count == 3)
    }

    @Test func `the error for a key path into a record that the schema lacks asks for this record`() throws {
        struct Sheet: BlankRecord {
            var name = ""
            var ref: Ref<Sheet>?
            static let recordSchema = RecordSchema<Sheet>("Sheet") { RecordProperty("name", \.name, .followParent(\WriterName.name)) }
        }
        let error = try #require(throws: CambiumError.self) { try Schema(of: Sheet.self) }
        #expect(error.details.count == 1)
        #expect(error.details.first?.contains("Sheet.name") == true)
        #expect(error.details.first?.contains("name its record in the call") == true)
    }

    @Test func `an inverse whose key path belongs to a record of another entity than the destination is a mistake`() throws {
        struct Club: BlankRecord {
            var party: Ref<Party>?
            var ref: Ref<Club>?
            static let recordSchema = RecordSchema<Club>("Club") { RecordProperty("party", \.party) }
        }
        struct Host: BlankRecord {
            var badges: [Ref<Badge>] = []
            var clubs: [Ref<Club>] = []
            var ref: Ref<Host>?
            static let recordSchema = RecordSchema<Host>("Party") {
                RecordProperty("badges", \.badges, .inverse(\Club.party))
                RecordProperty("clubs", \.clubs, .inverse(\Club.party))
            }
        }
        let error = try #require(throws: CambiumError.self) { try SchemaDefinition(of: Host.self) }
        #expect(error.code == .invalidInput)
        #expect(error.details.count == 1)
        #expect(error.details.first?.contains("Host.badges leads to the entity 'Badge'") == true)
        #expect(error.details.first?.contains("'Club'") == true)
    }

    @Test func `an inverse may be a key path of another view of the destination, or of a sub-entity`() throws {
        struct View: BlankRecord {
            var party: Ref<Party>?
            var ref: Ref<View>?
            static let recordSchema = RecordSchema<View>("Badge") { RecordProperty("party", \.party) }
        }
        struct Gold: BlankRecord {
            var party: Ref<Party>?
            var ref: Ref<Gold>?
            static let recordSchema = RecordSchema<Gold>("Gold", parent: View.self) { RecordProperty("party", \.party) }
        }
        struct Host: BlankRecord {
            var cards: [Ref<Badge>] = []
            var ref: Ref<Host>?
            static let recordSchema = RecordSchema<Host>("Party") { RecordProperty("cards", \.cards, .inverse(\View.party)) }
        }
        struct Patron: BlankRecord {
            var cards: [Ref<Badge>] = []
            var ref: Ref<Patron>?
            static let recordSchema = RecordSchema<Patron>("Party") { RecordProperty("cards", \.cards, .inverse(\Gold.party)) }
        }
        for definition in try [SchemaDefinition(of: Host.self, View.self), SchemaDefinition(of: Patron.self, Gold.self)] {
            let party = definition.entities.first { $0.name == "Party" }
            #expect(party?.relationships.map(\.inverse) == ["party"])
        }
    }

    @Test func `a followed attribute of an entity that has no relationship to the record's entity is a mistake`() throws {
        struct Page: BlankRecord {
            var code = ""
            var ref: Ref<Page>?
            static let recordSchema = RecordSchema<Page>("Sheet") { RecordProperty("code", \.code) }
        }
        struct Folder: BlankRecord {
            var code = ""
            var name = ""
            var sheets: [Ref<Page>] = []
            var ref: Ref<Folder>?
            static let recordSchema = RecordSchema<Folder>("Folder") {
                RecordProperty("code", \.code)
                RecordProperty("name", \.name)
                RecordProperty("sheets", \.sheets)
            }
        }
        struct Sheet: BlankRecord {
            var code = ""
            var ref: Ref<Sheet>?
            static let recordSchema = RecordSchema<Sheet>("Sheet") { RecordProperty("code", \.code, .followParent(\Folder.code)) }
        }
        struct Stray: BlankRecord {
            var code = ""
            var ref: Ref<Stray>?
            static let recordSchema = RecordSchema<Stray>("Sheet") { RecordProperty("code", \.code, .followParent(\Person.name)) }
        }
        let definition = try SchemaDefinition(of: Sheet.self, Folder.self)
        let sheet = definition.entities.first { $0.name == "Sheet" }
        #expect(sheet?.attributes.first?.userInfo == ["followParent": "code"])
        let error = try #require(throws: CambiumError.self) { try SchemaDefinition(of: Stray.self, Folder.self, Person.self) }
        #expect(error.details.count == 1)
        #expect(error.details.first?.contains("Stray.code follows an attribute of 'Person'") == true)
    }
}

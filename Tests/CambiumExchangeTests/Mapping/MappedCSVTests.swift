import Cambium
import CambiumLog
import TestFixtures
import Testing

@Suite struct MappedCSVTests {
    /// Makes a store with an entity that has relationships and an attribute of each type, named after the type.
    private static func store() throws -> Store {
        var definition = SchemaDefinition {
            EntityDefinition("Thing", identity: ["key"]) {
                AttributeDefinition("key", .int64)
                RelationshipDefinition("next", to: "Thing", inverse: "previous")
                RelationshipDefinition("previous", to: "Thing", .toMany, inverse: "next")
            }
        }
        definition.entities[0].attributes += AttributeType.allCases.map { AttributeDefinition($0.rawValue + "Value", $0, .optional) }
        return try Store.inMemory(schema: try Schema(definition))
    }

    private static func mapping(_ attributes: [String: PropertyMapping], _ relationships: [String: PropertyMapping] = [:]) -> ImportMapping
    {
        ImportMapping(
            entity: "Thing", attributes: attributes.merging(["key": "nr"]) { own, _ in own }, relationships: relationships)
    }

    private func imported(_ csv: String, _ mapping: ImportMapping) throws -> String {
        let store = try Self.store()
        try store.importing("Thing", csv: csv) { $0.mapping = mapping }
        return try store.graph.json("Thing/1")
    }

    @Test(arguments: [
        ("boolValue", "TRUE", "true"), ("int16Value", "-7", "-7"), ("int32Value", "007", "7"), ("int64Value", "9", "9"),
        ("floatValue", "0.1", "0.1"), ("doubleValue", "-00.5", "-0.5"),
        ("decimalValue", "12345678901234567890.10", "12345678901234567890.1"),
        ("stringValue", "09", "\"09\""), ("dataValue", "AQI=", "\"AQI=\""),
        ("dateValue", "2026-01-31T13:00:00+01:00", "\"2026-01-31T12:00:00Z\""),
        ("uuidValue", "00112233-4455-6677-8899-aabbccddeeff", "\"00112233-4455-6677-8899-AABBCCDDEEFF\""),
        ("uriValue", "http://example.org/a", "\"http://example.org/a\""), ("jsonValue", "\"{\"\"a\"\":[1,null]}\"", "{\"a\":[1,null]}"),
    ])
    func `a cell that a mapping reads has the type of the attribute`(name: String, text: String, json: String) throws {
        for mapping in [Self.mapping([name: "x"]), Self.mapping([name: PropertyMapping(.path("x"), functions: [.trim])])] {
            #expect(try imported("nr,x\n1,\(text)\n", mapping).contains("\"\(name)\":\(json)"))
            #expect(try imported("nr,x\n1,\n", mapping).contains("\"\(name)\":null"))
        }
    }

    @Test func `a column named like another attribute is text for the mapping`() throws {
        let mapping = Self.mapping(["stringValue": "int64Value", "int32Value": "stringValue", "int64Value": "int64Value"])
        let object = try imported("nr,int64Value,stringValue\n1,09,5\n", mapping)
        #expect(object.contains("\"int32Value\":5,\"int64Value\":9") && object.contains("\"stringValue\":\"09\""))
    }

    @Test func `a key with a dot that a mapping reads is not a path if paths have another delimiter`() throws {
        var mapping = Self.mapping(["stringValue": "next.key"])
        mapping.objects.delimiter = "/"
        #expect(try imported("nr,next.key\n1,b\n", mapping).contains("\"stringValue\":\"b\""))
        let path = Self.mapping(["stringValue": "next.key"])
        #expect(try imported("nr,next.key\n1,c\n", path).contains("\"stringValue\":\"c\""))
    }

    @Test func `a cell of the wrong type is refused with its text`() throws {
        let store = try Self.store()
        var options = ImportOptions()
        options.mapping = Self.mapping(["int64Value": "x"])
        var reached: ImportReport?
        #expect(
            code {
                _ = try store.importRows(
                    try store.schema.required("Thing"), from: [.bytes(Array("nr,x\n1,nine\n".utf8), format: .csv)], options
                ) { reached = $0 }
            } == .invalidInput)
        let error = reached?.errors.last
        #expect(error?.code == .typeMismatch && error?.pointer == "/x" && error?.message.contains("nine") == true)
    }

    @Test func `relationship cells that a mapping reads are identities or lists of identities`() throws {
        let store = try Self.store()
        let mapping = Self.mapping([:], ["next": "after", "previous": "before"])
        try store.importing("Thing", csv: "nr,after,before\n1,02,3;4\n5,,\n") { $0.mapping = mapping }
        #expect(try store.graph.json("Thing/1").hasSuffix("\"next\":\"Thing/2\",\"previous\":[\"Thing/3\",\"Thing/4\"]}"))
        #expect(store.graph.objectCount == 5)
    }

    @Test func `the identity that a mapping gives to a destination determines the form of a relationship's cells`() throws {
        let definition = SchemaDefinition {
            EntityDefinition("Box", identity: ["id"]) {
                AttributeDefinition("id", .int64)
                RelationshipDefinition("parts", to: "Part", .toMany)
                RelationshipDefinition("owner", to: "Owner")
            }
            EntityDefinition("Part") { AttributeDefinition("name", .string) }
            EntityDefinition("Owner", identity: ["code"]) {
                AttributeDefinition("code", .string)
                AttributeDefinition("land", .string)
            }
        }
        let store = try Store.inMemory(schema: try Schema(definition))
        let nested = ["Part": ObjectMapping(identity: ["name"]), "Owner": ObjectMapping(identity: ["land", "code"])]
        let csv = "id,parts,owner\n1,a;b,\"{\"\"code\"\":\"\"x\"\",\"\"land\"\":\"\"ES\"\"}\"\n"
        try store.importing("Box", csv: csv) { $0.mapping = ImportMapping(entity: "Box", nested: nested) }
        #expect(try store.graph.json("Box/1").hasSuffix("\"parts\":[\"Part/1\",\"Part/2\"],\"owner\":\"Owner/1\"}"))
        #expect(try store.graph.json("Part/2").contains("\"name\":\"b\"") && store.graph.json("Owner/1").contains("\"land\":\"ES\""))
    }

    @Test func `functions split the text of a column with the name of the relationship`() throws {
        let store = try Self.store()
        let mapping = Self.mapping([:], ["previous": PropertyMapping(functions: [.split("|"), .integer])])
        try store.importing("Thing", csv: "nr,previous\n1,3|4\n5,\n") { $0.mapping = mapping }
        #expect(try store.graph.json("Thing/1").hasSuffix("\"previous\":[\"Thing/2\",\"Thing/3\"]}"))
        #expect(store.graph.objectCount == 4)
    }

    @Test(arguments: ["before", "previous"])
    func `functions other than split apply to each identity in a cell`(column: String) throws {
        let store = try Self.store()
        let mapping = Self.mapping([:], ["previous": PropertyMapping(.path(column), functions: [.trim, .integer])])
        try store.importing("Thing", csv: "nr,\(column)\n1,3; 4\n5,6\n") { $0.mapping = mapping }
        #expect(try store.graph.json("Thing/1").hasSuffix("\"previous\":[\"Thing/2\",\"Thing/3\"]}"))
        #expect(store.graph.objectCount == 5)
    }

    @Test func `functions read identities without the backslashes of a cell, and may turn one text into a list`() throws {
        let definition = SchemaDefinition {
            EntityDefinition("Box", identity: ["name"]) {
                AttributeDefinition("name", .string)
                RelationshipDefinition("parts", to: "Box", .toMany)
            }
        }
        let store = try Store.inMemory(schema: try Schema(definition))
        let functions = [ValueFunction.upper, .lookup(["ALL": .array([.string("p"), .string("q")]), "A;B": .string("r")])]
        let mapping = ImportMapping(entity: "Box", relationships: ["parts": PropertyMapping(.path("list"), functions: functions)])
        try store.importing("Box", csv: "name,list\nx,all\ny,a\\;b\n") { $0.mapping = mapping }
        #expect(try store.graph.json("Box/1").hasSuffix("\"parts\":[\"Box/2\",\"Box/3\"]}"))
        #expect(try store.graph.json("Box/4").hasSuffix("\"parts\":[\"Box/5\"]}"))
    }

    @Test func `a column named like a relationship is text if the mapping reads an attribute from it`() throws {
        let mapping = Self.mapping(["stringValue": "previous", "uriValue": "next"], ["previous": "before"])
        let object = try imported("nr,previous,next,before\n1,a;b,x:c,3;4\n", mapping)
        #expect(object.contains("\"stringValue\":\"a;b\"") && object.contains("\"uriValue\":\"x:c\""))
        #expect(object.hasSuffix("\"next\":null,\"previous\":[\"Thing/2\",\"Thing/3\"]}"))
    }

    @Test func `formats and functions of a mapping see the text of a cell`() throws {
        let mapping = Self.mapping([
            "doubleValue": PropertyMapping(.path("doubleValue"), numbers: NumberFormat(decimal: ",", grouping: ".")),
            "dateValue": PropertyMapping(.path("day"), dates: [.secondsSince1970]),
            "int32Value": PropertyMapping(.join(["a", "b"], separator: "")),
        ])
        let object = try imported("nr,doubleValue,day,a,b\n1,\"1.000,5\",86400,4,2\n", mapping)
        #expect(object.contains("\"int32Value\":42") && object.contains("\"doubleValue\":1000.5"))
        #expect(object.contains("\"dateValue\":\"1970-01-02T00:00:00Z\""))
    }

    @Test(arguments: ["\"\"", "\"  \"", "  "])
    func `a cell that functions empty is null for the formats of a mapping`(cell: String) throws {
        let mapping = Self.mapping([
            "doubleValue": PropertyMapping(.path("size"), functions: [.trim], numbers: NumberFormat(decimal: ",")),
            "dateValue": PropertyMapping(.path("day"), functions: [.trim], dates: [.iso8601]),
        ])
        let object = try imported("nr,size,day\n1,\(cell),\(cell)\n", mapping)
        #expect(object.contains("\"doubleValue\":null") && object.contains("\"dateValue\":null"))
    }

    @Test func `an empty cell of a column that a mapping reads only for a sub-entity is not an unknown key`() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Media", identity: ["id"]) { AttributeDefinition("id", .int64) }
                EntityDefinition("Film", parent: "Media") { AttributeDefinition("cut", .string, .optional) }
            })
        let mapping = ImportMapping(entity: "Media", attributes: ["cut": "Film cut"])
        let csv = "_entity,id,Film cut\nMedia,1,\nFilm,2,long\nFilm,3,\n"
        try store.importing("Media", csv: csv) { ($0.mapping, $0.unknown) = (mapping, .error) }
        #expect(store.graph.objectCount == 3)
        #expect(try store.graph.json("Film/2").hasSuffix("\"cut\":\"long\"}"))
    }

    @Test func `a column of a related object names its entity, whatever key names the entity of the row`() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Person", identity: ["id"]) {
                    AttributeDefinition("id", .int64)
                    RelationshipDefinition("country", to: "Country")
                }
                EntityDefinition("Country", identity: ["code"]) { AttributeDefinition("code", .string) }
                EntityDefinition("Kingdom", parent: "Country") { AttributeDefinition("king", .string, .optional) }
            })
        let csv = "type,id,country._entity,country.code,country.king\nPerson,1,Kingdom,ES,Felipe\nPerson,2,Country,FR,\n"
        try store.importing("Person", csv: csv) {
            ($0.mapping, $0.unknown) = (ImportMapping(entity: "Person", entityFrom: "type"), .error)
        }
        #expect(try store.graph.json("Kingdom/1").hasSuffix("\"king\":\"Felipe\"}"))
        #expect(try store.graph.json("Country/2").hasSuffix("\"code\":\"FR\"}"))
        let nested = ["Country": ObjectMapping(entityFrom: "kind", entityNames: ["k": "Kingdom"])]
        try store.importing("Person", csv: "id,country.kind,country.code,country.king\n3,k,SE,Carl\n4,Country,DE,\n") {
            ($0.mapping, $0.unknown) = (ImportMapping(entity: "Person", nested: nested), .error)
        }
        #expect(try store.graph.json("Kingdom/3").hasSuffix("\"king\":\"Carl\"}"))
    }

    @Test(arguments: ["meta.type", "meta\\.type"])
    func `a column with the whole path of the entity's key names the entity, even if the path has an escape`(key: String) throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Media", identity: ["id"]) { AttributeDefinition("id", .int64) }
                EntityDefinition("Film", parent: "Media") { AttributeDefinition("cut", .string, .optional) }
            })
        try store.importing("Media", csv: "meta.type,id,cut\nMedia,1,\nFilm,2,long\n") {
            ($0.mapping, $0.unknown) = (ImportMapping(entity: "Media", entityFrom: key), .error)
        }
        #expect(try store.graph.json("Film/2").hasSuffix("\"cut\":\"long\"}"))
    }

    @Test func `an empty cell names the entity that a mapping assigns to the empty text`() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Media", identity: ["id"]) { AttributeDefinition("id", .int64) }
                EntityDefinition("Film", parent: "Media")
            })
        try store.importing("Media", csv: "type,id\n,1\n\"\",2\nMedia,3\n") {
            $0.mapping = ImportMapping(entity: "Media", entityFrom: "type", entityNames: ["": "Film"])
        }
        #expect(try store.graph.json("Film/1").contains("\"id\":1") && store.graph.json("Film/2").contains("\"id\":2"))
        #expect(try store.graph.json("Media/3").contains("\"id\":3"))
    }

    @Test func `a JSON string is not converted to a number`() throws {
        let store = try Self.store()
        let mapping = Self.mapping(["int64Value": "x"])
        #expect(store.refusal("Thing", "{\"nr\":1,\"x\":\"9\"}") { $0.mapping = mapping }?.code == .typeMismatch)
    }
}

import CambiumJSON
import Testing

@testable import CambiumModel

/// Schemas of sizes that take minutes if a lookup walks through everything.
@Suite struct LargeSchemaTests {
    private static func entities(_ count: Int, _ words: (Int) -> String) -> String {
        (0..<count).map { "\"E\($0)\":{\(words($0))}" }.joined(separator: ",")
    }

    /// Returns the schema as it is read back from the log when a store is opened.
    private func reopen(_ schema: Schema) throws -> Schema { try Schema(catalog: schema.catalog) }

    @Test func `an enum of 40,000 values is a set`() throws {
        let values = (0..<40_000).map { "\"v\($0)\"" }.joined(separator: ",")
        let schema = try reopen(SchemaFixture.schema(SchemaFixture.attribute(#""type":"string","enum":[\#(values)]"#)))
        let constraints = try #require(schema.entity("E")?.attribute("a")?.constraints)
        #expect((0..<40_000).allSatisfy { constraints.check(.string("v\($0)")) == nil })
        #expect(constraints.check(.string("w"))?.hasSuffix("and 39950 more") == true)
    }

    @Test func `the error for an unknown name lists only the first names of a large schema`() throws {
        let attributes = (0..<60).map { #""a\#($0)":{"type":"bool"}"# }.joined(separator: ",")
        let schema = try SchemaFixture.schema(Self.entities(60) { _ in "\"attributes\":{\(attributes)}" })
        let unknownEntity = #expect(throws: CambiumError.self) { try schema.required("Nothing") }
        #expect(unknownEntity?.message.hasSuffix(", E48, E49 and 10 more.") == true, "\(unknownEntity?.message ?? "")")
        let entity = try schema.required("E7")
        let unknownAttribute = #expect(throws: CambiumError.self) { try entity.requiredAttribute("nothing") }
        #expect(unknownAttribute?.message.hasSuffix(", a48, a49 and 10 more.") == true, "\(unknownAttribute?.message ?? "")")
    }

    @Test func `5,000 entities with relationships to a hub load`() throws {
        let hub = (1..<5_000).map { #""r\#($0)":{"to":"E\#($0)","many":true}"# }.joined(separator: ",")
        let schema = try SchemaFixture.schema(
            Self.entities(5_000) { $0 == 0 ? "\"relationships\":{\(hub)}" : #""relationships":{"up":{"to":"E0","inverse":"r\#($0)"}}"# })
        #expect(try reopen(schema).links.count == 4_999)
    }

    @Test func `300 levels of parents load with everything that they inherit`() throws {
        let schema = try SchemaFixture.schema(
            Self.entities(300) { number in
                (number == 0 ? "" : #""parent":"E\#(number - 1)","#)
                    + #""attributes":{"a\#(number)":{"type":"int32","optional":true}},"unique":[["a\#(number)"]]"#
            })
        let last = try #require(reopen(schema).entity("E299"))
        #expect(last.attributes.map(\.name) == (0..<300).map { "a\($0)" } && last.uniqueSets.count == 300)
        #expect(schema.entity("E0")?.family.count == 300 && last.root == schema.entity("E0")?.number)
    }

    @Test func `parents that multiply properties beyond the limit are refused`() {
        let words = { (number: Int) in
            number == 0 ? "" : #""parent":"E\#(number - 1)","attributes":{"a\#(number)":{"type":"bool"}}"#
        }
        let error = SchemaFixture.error(Self.entities(3000, words))
        #expect(error?.code == .limitExceeded && error?.message.contains("inherit") == true)
    }

    @Test func `an expression is compiled when it is first used`() throws {
        let schema = try reopen(SchemaFixture.schema(SchemaFixture.attribute(#""type":"string","regex":"a*""#)))
        let constraints = try #require(schema.entity("E")?.attribute("a")?.constraints)
        #expect(constraints.regex?.isCompiled == false)
        #expect(constraints.check(.string("aa")) == nil && constraints.check(.string("b")) != nil)
        #expect(constraints.regex?.isCompiled == true)
    }

    /// Returns an entity with an attribute for each pattern.
    private func matched(_ patterns: [String]) -> String {
        let attributes = patterns.enumerated().map { #""a\#($0)":{"type":"string","optional":true,"regex":"\#($1)"}"# }
        return #""E":{"attributes":{\#(attributes.joined(separator: ","))}}"#
    }

    @Test func `attributes with the same pattern share an expression`() throws {
        let schema = try reopen(SchemaFixture.schema(matched(Array(repeating: "a*", count: 2000))))
        let attributes = try #require(schema.entity("E")?.attributes)
        #expect(attributes.first?.constraints.check(.string("aa")) == nil)
        #expect(attributes.count == 2000 && attributes.last?.constraints.regex?.isCompiled == true)
    }

    @Test func `a schema has at most 1,000 different expressions`() throws {
        let patterns = (0...SchemaExpressions.countMax).map { "a{\($0 % 10)}\($0)" }
        #expect(try SchemaFixture.schema(matched(Array(patterns.dropLast()))).entity("E")?.attributes.count == 1000)
        let error = SchemaFixture.error(matched(patterns))
        #expect(error?.code == .limitExceeded && error?.message.contains("regular expressions") == true)
    }

    @Test func `the queries of a schema have at most 1,000 patterns`() throws {
        func entities(_ count: Int) -> String {
            let queries = (0..<count).map { #""q\#($0)":{"where":"a matches \"x\#($0)\" or a like \"y*\""}"# }.joined(separator: ",")
            return #""E":{"attributes":{"a":{"type":"string"}},"queries":{\#(queries)}}"#
        }
        #expect(try SchemaFixture.schema(entities(500)).entity("E")?.queries.count == 500)
        let error = SchemaFixture.error(entities(501))
        #expect(SchemaFixture.pointers(error) == ["/entities/E/queries/q500/where"])
    }

    @Test func `a large schema is compared with another one`() throws {
        func definition(_ renamed: String) throws -> SchemaDefinition {
            try SchemaFixture.definition(
                Self.entities(1000) { number in
                    (number == 0 || number % 100 != 0 ? "" : #""parent":"E0","#)
                        + #""attributes":{"\#(renamed)\#(number)":{"type":"int32","optional":true}},"#
                        + #""relationships":{"next\#(number)":{"to":"E\#((number + 1) % 1000)"}}"#
                })
        }
        let migration = try SchemaMigration(from: Schema(definition("a")), to: definition("b"))
        #expect(migration.changes.count == 2000)
    }

    @Test func `thousands of sub-entities get attributes that thousands of others have`() throws {
        func names(_ number: Int, isLater: Bool) -> [String] {
            if number == 1 { return isLater ? ["b", "c"] : ["a", "b", "c"] }
            if number == 2 { return isLater ? ["a"] : [] }
            return number == 0 || number % 2 == 0 && !isLater ? [] : ["a", "b", "c"]
        }
        func definition(isLater: Bool) throws -> SchemaDefinition {
            try SchemaFixture.definition(
                Self.entities(2000) { number in
                    let attributes = names(number, isLater: isLater).map { #""\#($0)":{"type":"int32","optional":true}"# }
                    let parent = number == 0 ? "" : #""parent":"E\#(number == 2 ? 1 : 0)","#
                    return parent + #""attributes":{\#(attributes.joined(separator: ","))}"#
                })
        }
        let migration = try SchemaMigration(from: Schema(definition(isLater: false)), to: definition(isLater: true))
        #expect(migration.changes.count { $0.kind == .added } == 3 * 998)
        #expect(migration.changes.filter { $0.kind != .added }.map(\.kind) == [.moved])
    }

    @Test func `2,000 attributes that follow a parent are checked`() throws {
        let schema = try SchemaFixture.schema(
            #""P":{"attributes":{"id":{"type":"int32"}},"relationships":{"c":{"to":"E0","many":true}}},"#
                + Self.entities(1) { _ in
                    let attributes = (0..<2000).map {
                        #""a\#($0)":{"type":"int32","userInfo":{"followParent":"id","withoutParent":"keep"}}"#
                    }
                    return "\"attributes\":{\(attributes.joined(separator: ","))}"
                })
        #expect(schema.entity("E0")?.attributes.count == 2000)
    }

    @Test func `minus zero is an allowed value if zero is`() throws {
        let schema = try SchemaFixture.schema(SchemaFixture.attribute(#""type":"double","enum":[0,1]"#))
        #expect(schema.entity("E")?.attribute("a")?.constraints.check(.double(-0.0)) == nil)
        #expect(SchemaFixture.error(SchemaFixture.attribute(#""type":"double","enum":[0,-0.0]"#)) != nil)
    }
}

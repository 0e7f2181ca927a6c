import Cambium
import CambiumLog
import CambiumModel
import TestFixtures
import Testing

/// Identities with a to-one relationship as a component.
@Suite struct OwnedIdentityTests {
    // MARK: Schemas

    @Test func `a schema prints the identity, and reads it back`() throws {
        let schema = try Schema(OwnedIdentity.definition)
        #expect(schema.entity("Comment")?.identity.map(\.name) == ["n", "issue"])
        #expect(schema.entity("Comment")?.identityValues.map(\.name) == ["n", "issue.project.key", "issue.number"])
        #expect(schema.entity("Bug")?.identityValues.map(\.name) == ["project.key", "number"])
        let again = try Schema(SchemaDefinition(json: Array(OwnedIdentity.definition.json.text.utf8)))
        #expect(again.entity("Comment")?.identityValues.map(\.name) == schema.entity("Comment")?.identityValues.map(\.name))
    }

    @Test(arguments: [
        (#"{"A":{"identity":["parent","n"],"attributes":{"n":{"type":"string"}},"relationships":{"parent":{"to":"A"}}}}"#, "needs itself"),
        (
            #"{"A":{"identity":["b"],"relationships":{"b":{"to":"B"}}},"B":{"identity":["c"],"relationships":{"c":{"to":"C"}}},"#
                + #""C":{},"D":{"parent":"C","identity":["a"],"relationships":{"a":{"to":"A"}}}}"#, "needs itself"
        ),
        (#"{"A":{"identity":["all"],"relationships":{"all":{"to":"A","many":true}}}}"#, "an identity consists of"),
    ])
    func `a schema refuses an identity that needs itself or many objects`(entities: String, reason: String) throws {
        #expect { try Schema(SchemaDefinition(json: Array(#"{"entities":\#(entities)}"#.utf8))) } throws: { "\($0)".contains(reason) }
    }

    @Test func `a schema refuses an identity whose values double with each entity`() throws {
        let definition = SchemaDefinition(
            entities: (0..<10).map { number in
                var entity = EntityDefinition("E\(number)", identity: number == 0 ? ["k"] : ["a", "b"]) { AttributeDefinition("k", .int64) }
                if number > 0 { entity.relationships = ["a", "b"].map { RelationshipDefinition($0, to: "E\(number - 1)") } }
                return entity
            })
        #expect { try Schema(definition) } throws: { "\($0)".contains("more than 64 values") }
    }

    // MARK: Imports

    private static let forms: [(entity: String, rows: String)] = [
        ("Issue", #"[{"number":1,"title":"x","project":"A"},{"project":"A","number":2},{"project":"B","number":1}]"#),
        (
            "Issue",
            #"{"project":{"key":"A"},"number":2}"# + "\n" + #"{"project":"A","number":1,"title":"x"}"# + "\n"
                + #"{"number":1,"project":"B"}"#
        ),
        ("Project", #"[{"key":"B","issues":[{"number":1}]},{"issues":[{"title":"x","number":1},{"number":2}],"key":"A"}]"#),
        ("Issue", #"[{"number":2,"project":{"key":"A","issues":[{"number":1,"title":"x"},{"number":2}]}},{"number":1,"project":"B"}]"#),
    ]

    @Test(arguments: forms.indices)
    func `a row names, describes or encloses the owner, and a second import changes nothing`(form: Int) throws {
        let (volume, (entity, rows)) = (MemoryVolume(), Self.forms[form])
        let store = try OwnedIdentity.store(volume)
        #expect(try store.importing(entity, rows).errors.isEmpty)
        #expect(try OwnedIdentity.names(store) == ["A-1", "A-2", "B-1"])
        let (digest, before) = (store.graph.digest(), store.graph.export)
        for _ in 0..<2 { #expect(try store.importing(entity, rows).entities.values.allSatisfy { $0.inserted + $0.updated == 0 }) }
        #expect(store.graph.digest() == digest && store.graph.export == before && store.graph.invariantFindings().isEmpty)
        #expect(try Store.reopened(volume).graph.digest() == digest)
        for other in Self.forms { try store.importing(other.entity, other.rows) { $0.toMany = .append } }
        #expect(try OwnedIdentity.names(store) == ["A-1", "A-2", "B-1"] && OwnedIdentity.names(store, "Project") == ["A", "B"])
    }

    @Test(arguments: ["project,number,title\nA,1,x\nA,2,\nB,1,\n", "number,project.key,title\n1,A,x\n2,A,\n1,B,\n"])
    func `a CSV file names the owner in a column`(csv: String) throws {
        let store = try OwnedIdentity.store()
        #expect(try store.importing("Issue", csv: csv).counts.inserted == 3)
        #expect(try store.importing("Issue", csv: csv).counts.unchanged == 3)
        #expect(try OwnedIdentity.names(store) == ["A-1", "A-2", "B-1"])
    }

    @Test func `owners nest, and one row may create a whole tree and mention its objects again`() throws {
        let store = try OwnedIdentity.store()
        let row = """
            {"key":"A","issues":[{"number":1,"comments":[{"n":1},{"n":2,"text":"t"},{"n":1,"text":"s"}]},
            {"number":2,"blocks":[{"project":"A","number":1},{"project":{"key":"A"},"number":3}]}]}
            """
        for _ in 0..<2 { try store.importing("Project", row.replacing("\n", with: "")) { $0.toMany = .append } }
        #expect(try OwnedIdentity.names(store) == ["A-1", "A-2", "A-3"])
        #expect(try OwnedIdentity.names(store, "Comment") == ["1-A-1", "2-A-1"])
        let comment = try #require(try store.graph.find("Comment", identity: [1, "A", 1]))
        #expect(try store.graph[comment, "text"] == "s")
    }

    @Test(arguments: [
        (#"{"number":1}"#, ImportReport.RowError.Code.missingIdentity), (#"{"number":1,"project":null}"#, .missingIdentity),
        (#"{"project":"A"}"#, .missingIdentity), (#"{"number":1,"project":{"name":"x"}}"#, .missingIdentity),
        (#"{"number":1,"project":["A"]}"#, .typeMismatch), (#"{"number":1,"project":"A","blocks":[7]}"#, .typeMismatch),
    ])
    func `a row without an owner is refused`(row: String, code: ImportReport.RowError.Code) throws {
        let store = try OwnedIdentity.store()
        #expect(store.refusal("Issue", row)?.code == code)
        #expect(store.refusal("Issue", row) { $0.null = .keep }?.code == code)
    }

    @Test func `an object inside of another owner is refused`() throws {
        let store = try OwnedIdentity.filled()
        let failure = store.refusal("Project", #"{"key":"A","issues":[{"project":"B","number":1}]}"#)
        #expect(failure?.code == .ruleViolated && failure?.pointer == "/issues/0")
    }

    @Test func `options apply to owned objects as to others`() throws {
        let store = try OwnedIdentity.filled()
        #expect(store.refusal("Issue", #"{"project":"C","number":1}"#) { $0.references = .error }?.code == .unknownReference)
        #expect(store.refusal("Issue", #"{"project":"C","number":1}"#) { $0.references = .skip }?.code == .missingIdentity)
        let kept = try store.importing("Issue", #"{"project":"A","number":1,"title":"new"}"#) { $0.existing = .skip }
        #expect(kept.counts.unchanged == 1)
        try store.importing("Issue", #"{"project":"A","number":1,"title":"new"}"#)
        try store.importing("Issue", #"{"project":"A","number":1}"#) { $0.missing = .clear }
        let issue = try #require(try store.graph.find("Issue", identity: ["A", 1]))
        #expect(try store.graph[issue, "title"] == .null && store.graph.members("project", of: issue).count == 1)
    }

    @Test func `absent objects are deleted, and those that an unchanged row mentions stay`() throws {
        let store = try OwnedIdentity.filled()
        let row = #"{"key":"A","issues":[{"number":2}]}"#
        let report = try store.importing("Project", row) { options in
            (options.absent, options.absentMax, options.existing) = (.delete, .percent(100), .skip)
        }
        #expect(report.counts.deleted == 1)
        #expect(try OwnedIdentity.names(store) == ["A-1", "A-2"])
        let issues = try store.importing("Issue", #"{"project":"A","number":2}"#) { options in
            (options.absent, options.absentMax) = (.delete, .percent(100))
        }
        #expect(issues.counts.deleted == 1)
        #expect(try OwnedIdentity.names(store) == ["A-2"])
    }

    @Test func `a row finds an object of a sub-entity by its owner, and fills its own properties`() throws {
        let store = try OwnedIdentity.filled()
        try store.importing("Bug", #"{"project":"A","number":7,"severity":1}"#)
        for unknown in [ImportOptions.UnknownKey.report, .error] {
            let report = try store.importing("Issue", #"{"severity":3,"number":7,"project":"A"}"#) { $0.unknown = unknown }
            #expect(report.errors.isEmpty)
        }
        let nested = try store.importing("Project", #"{"key":"A","issues":[{"number":7,"severity":4}]}"#) { $0.unknown = .error }
        #expect(nested.errors.isEmpty)
        let bug = try #require(try store.graph.find("Bug", identity: ["A", 7]))
        #expect(try store.graph[bug, "severity"] == 4)
        #expect(store.refusal("Bug", #"{"project":"B","number":1}"#)?.code == .duplicate)
    }

    // MARK: Exports

    @Test func `an export by identity is imported as the same bytes`() throws {
        let store = try OwnedIdentity.filled()
        let all = try store.graph.identified()
        #expect(all.contains(#""project":"A""#) && all.contains(#""issue":{"project":"A","number":1}"#))
        for format in [ExportOptions.Format.lines, .csv] {
            let copy = try OwnedIdentity.store()
            for entity in ["Project", "Issue", "Comment"] {
                let rows = try store.graph.identified(entity) { $0.format = format }
                let source = ImportSource.bytes(Array(rows.utf8), format: format == .csv ? .csv : .json)
                var options = ImportOptions()
                options.toMany = .append
                _ = try copy.importRows(try copy.schema.required(entity), from: [source], options)
            }
            #expect(try copy.graph.identified() == all)
        }
        let nested = try store.graph.exported("Project", including: ["issues.comments"]) { $0.references = .identity }
        let copy = try OwnedIdentity.store()
        try copy.importing("Project", nested)
        #expect(try copy.graph.identified() == all)
        let names = try store.graph.identified("Comment") { $0.content = .names }
        #expect(names == #"{"n":1,"issue":{"project":"A","number":1}}"# + "\n")
    }

    @Test func `a mapping that names the identity reads and writes the owner`() throws {
        let store = try OwnedIdentity.filled()
        let mapping = try ImportMapping(
            json: Array(#"{"entity":"Issue","identity":["number","project"],"relationships":{"project":{"from":"in.project"}}}"#.utf8))
        let rows = try store.graph.exported("Issue") { ($0.references, $0.mapping) = (.identity, mapping) }
        #expect(rows.contains(#""in":{"project":"A"}"#))
        #expect(try store.importing("Issue", rows) { ($0.mapping, $0.toMany) = (mapping, .append) }.counts.unchanged == 3)
        let other = ImportMapping(entity: "Issue", identity: ["project"])
        #expect { try store.importing("Issue", rows) { $0.mapping = other } } throws: { "\($0)".contains("is a relationship") }
    }
}

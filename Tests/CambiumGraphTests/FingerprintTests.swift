import CambiumModel
import Testing

@testable import CambiumGraph

/// The texts of a layout, from which the fingerprints of stored checkpoints are computed.
@Suite struct FingerprintTests {
    /// A schema with each kind of column and each shape of link.
    private static let schema = """
        {"entities": {
          "A": {
            "attributes": {
              "name": {"type": "string"}, "flag": {"type": "bool", "optional": true}, "count": {"type": "int64", "optional": true},
              "data": {"type": "data", "optional": true}, "id": {"type": "uuid", "optional": true}
            },
            "relationships": {
              "one": {"to": "B", "inverse": "a"},
              "twin": {"to": "A", "inverse": "twin"},
              "chained": {"to": "B", "many": true, "inverse": "owner"},
              "ordered": {"to": "B", "many": true, "ordered": true, "inverse": "holder"},
              "tags": {"to": "B", "many": true, "inverse": "tagged"},
              "friends": {"to": "A", "many": true, "inverse": "friends"}
            },
            "unique": [["name"]]
          },
          "B": {
            "relationships": {
              "a": {"to": "A", "inverse": "one"},
              "owner": {"to": "A", "inverse": "chained"},
              "holder": {"to": "A", "inverse": "ordered"},
              "tagged": {"to": "A", "many": true, "ordered": true, "inverse": "tags"}
            }
          }
        }}
        """

    @Test func `fingerprint texts equal the texts that reflection produces`() throws {
        let layout = GraphLayout(try Schema(SchemaDefinition(json: Array(Self.schema.utf8))))
        var shapes = Set<String>()
        for link in layout.links {
            #expect(link.fingerprintText == "\(link)")
            shapes.insert(String(link.fingerprintText.prefix { $0 != "(" }))
        }
        #expect(shapes == ["pair", "list", "edges"])
        let kinds = layout.tables.flatMap(\.columns)
        for kind in kinds { #expect("[\(kind.fingerprintText)]" == "\([kind])") }
        #expect(Set(kinds).isSuperset(of: [.fixed(width: 1), .fixed(width: 8), .fixed(width: 16), .string, .rows, .numbers]))
    }
}

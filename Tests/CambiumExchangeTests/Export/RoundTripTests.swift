import Cambium
import CambiumLog
import CambiumTesting
import Foundation
import TestFixtures
import Testing

/// An export by identity can be imported anywhere, and a second export has the same bytes.
@Suite struct RoundTripTests {
    private static let seeds = TestSettings.seeds("programs", usual: 5)

    private func exports(_ graph: Graph, _ options: ExportOptions) throws -> [String: [UInt8]] {
        var exports: [String: [UInt8]] = [:]
        for entity in graph.schema.entities {
            var bytes: [UInt8] = []
            try graph.export(entity, options) { bytes += $0 }
            exports[entity.name] = bytes
        }
        return exports
    }

    private func importing(
        _ exports: [String: [UInt8]], _ format: ImportSource.Format, to store: Store, _ random: inout SplitMix64
    ) throws -> [ImportReport] {
        var options = ImportOptions()
        options.batchRowCount = random.pick([nil, 1, 3])?.map { $0 }
        options.unknown = .error
        return try exports.keys.sorted().shuffled(using: &random).map { name in
            let source = ImportSource.bytes(exports[name] ?? [], name: name, format: format)
            return try store.importRows(try store.schema.required(name), from: [source], options)
        }
    }

    @Test(arguments: ExportOptions.Format.allCases)
    func `a second export after an import has the same bytes, and a second import changes nothing`(format: ExportOptions.Format) throws {
        var objectCount = 0
        for seed in Self.seeds {
            var made = RandomIdentityGraph(seed: seed)
            var random = SplitMix64(seed: seed)
            var options = ExportOptions()
            (options.format, options.references) = (format, .identity)
            let first = try exports(try made.store().graph, options)
            let copy = try made.emptyStore()
            let read: ImportSource.Format = format == .csv ? .csv : .json
            do {
                _ = try importing(first, read, to: copy, &random)
                #expect(try exports(copy.graph, options) == first, "seed \(seed)")
                let again = try importing(first, read, to: copy, &random)
                #expect(again.allSatisfy { $0.transaction == nil }, "seed \(seed)")
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
            objectCount += copy.graph.objectCount
        }
        #expect(objectCount > Self.seeds.count * 4)
    }

    @Test func `rows in any order and any batches result in the same graph`() throws {
        for seed in Self.seeds {
            var made = RandomIdentityGraph(seed: seed)
            var random = SplitMix64(seed: seed)
            var options = ExportOptions()
            options.references = .identity
            let first = try exports(try made.store().graph, options)
            for _ in 0..<2 {
                let copy = try made.emptyStore()
                let shuffled = first.mapValues { bytes in
                    Array(bytes.split(separator: UInt8(ascii: "\n")).shuffled(using: &random).joined(separator: [UInt8(ascii: "\n")]))
                }
                _ = try importing(shuffled, .json, to: copy, &random)
                #expect(try exports(copy.graph, options) == first, "seed \(seed)")
            }
        }
    }

    @Test func `an export with included objects can be imported on its own`() throws {
        for seed in Self.seeds {
            var made = RandomIdentityGraph(seed: seed)
            let graph = try made.store().graph
            var options = ExportOptions()
            (options.references, options.include) = (.identity, IncludeTree(depth: 2))
            let first = try exports(graph, options)
            options.include = IncludeTree()
            let copy = try made.emptyStore()
            var random = SplitMix64(seed: seed)
            _ = try importing(first, .json, to: copy, &random)
            #expect(try exports(copy.graph, options) == exports(graph, options), "seed \(seed)")
        }
    }

    /// Returns a JSON text of nested arrays.
    private func nested(_ depth: Int) -> String { String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }

    private func storeOfNodes() throws -> Store {
        try Store.inMemory(
            schema: Schema {
                EntityDefinition("Node", identity: ["id"]) {
                    AttributeDefinition("id", .int64)
                    AttributeDefinition("json", .json, .optional)
                    RelationshipDefinition("children", to: "Node", .toMany, inverse: "parent")
                    RelationshipDefinition("parent", to: "Node", inverse: "children")
                }
            })
    }

    @Test func `JSON of the deepest nesting comes back from an export, and deeper JSON is not a value`() throws {
        let store = try storeOfNodes()
        try store.write { transaction in
            var nodes: [ObjectID] = []
            for id in 1...3 { nodes.append(try transaction.insert("Node", ["id": .int(Int64(id)), "json": .json(nested(512))])) }
            try transaction.link(nodes[0], "children", nodes[1])
            try transaction.link(nodes[1], "children", nodes[2])
        }
        let rows = try store.graph.exported("Node", including: ["children.children"]) { $0.references = .identity }
        let copy = try storeOfNodes()
        try copy.importing("Node", rows)
        #expect(try copy.graph.exported("Node") { $0.references = .identity } == store.graph.exported("Node") { $0.references = .identity })
        #expect(copy.refusal("Node", "{\"id\":4,\"json\":\(nested(513))}")?.code == .typeMismatch)
        #expect(throws: CambiumError.self) {
            try copy.write { transaction in _ = try transaction.insert("Node", ["id": .int(4), "json": .json(nested(513))]) }
        }
        #expect(copy.graph.objectCount == 3)
    }

    @Test(arguments: [false, true])
    func `an export with a mapping writes no row that nests too deeply for an import`(isNested: Bool) throws {
        let store = try storeOfNodes()
        try store.write { transaction in
            let leaf = try transaction.insert("Node", ["id": 1, "json": .json(nested(512))])
            if !isNested { return }
            let root = try transaction.insert("Node", ["id": 0])
            try transaction.link(root, "children", leaf)
        }
        // The JSON has 512 levels. The 88 keys to the list of children, and the list itself, add 89 levels.
        for (keyCount, isReadable) in [(isNested ? 99 : 188, true), (isNested ? 100 : 189, false)] {
            let json = (0..<keyCount).map { "k\($0)" }.joined(separator: ".")
            let list = (0..<88).map { "c\($0)" }.joined(separator: ".")
            let mapping = ImportMapping(attributes: ["json": .init(.path(json))], relationships: ["children": .init(.path(list))])
            var rows = ""
            let reached = code {
                rows = try store.graph.exported("Node", including: isNested ? ["children"] : []) { $0.mapping = mapping }
            }
            #expect(reached == (isReadable ? nil : .invalidInput))
            if isReadable {
                let copy = try storeOfNodes()
                try copy.importing("Node", rows) { $0.mapping = mapping }
                #expect(copy.graph.objectCount == (isNested ? 2 : 1))
            }
        }
    }

    @Test(arguments: ExportOptions.KeyPaths.allCases)
    func `a second export after an import by the same mapping has the same bytes`(keyPaths: ExportOptions.KeyPaths) throws {
        var rowCount = 0
        for seed in Self.seeds {
            var made = RandomIdentityGraph(seed: seed)
            let graph = try made.store().graph
            var random = RandomMapping(seed: seed)
            for entity in graph.schema.entities {
                var options = ExportOptions()
                (options.mapping, options.keyPaths) = (random.mapping(of: graph.schema, for: entity), keyPaths)
                do {
                    let first = try graph.exported(entity.name) { $0 = options }
                    let copy = try made.emptyStore()
                    try copy.importing(entity.name, first) { ($0.mapping, $0.unknown) = (options.mapping, .error) }
                    #expect(try copy.graph.exported(entity.name) { $0 = options } == first, "seed \(seed)")
                    #expect(try copy.importing(entity.name, first) { $0.mapping = options.mapping }.transaction == nil, "seed \(seed)")
                    rowCount += first.split(separator: "\n").count
                } catch {
                    Issue.record("seed \(seed), '\(entity.name)': \(error)")
                }
            }
        }
        #expect(rowCount > Self.seeds.count * 4)
    }
}

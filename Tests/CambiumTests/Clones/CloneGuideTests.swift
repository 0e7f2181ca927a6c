import Cambium
import Foundation
import Testing

@Suite struct CloneGuideTests {
    private let guide = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Docs/Guides/FromMOCloner.md")

    /// Runs the example of the guide, word for word.
    private func example(_ store: Store, _ note: ObjectID) throws -> Clone {
        let request = CloneRequest(excluding: ["memos", "Item.toManyTags"], rootValues: ["name": .string("Lyon")])
        let (clone, receipt) = try store.write(Author(actor: "jane")) { try $0.clone(note, request) }
        for (entity, count) in clone.summary.counts { print(entity.name, count) }
        clone.map.forEach { original, copy in print(original.serial, copy.serial) }
        print(receipt.graph.source(of: clone.root) == note, receipt.logByteCount)
        return clone
    }

    private func block(_ language: String, _ number: Int = 0) throws -> String {
        let blocks = try String(contentsOf: guide, encoding: .utf8).split(separator: "```\(language)\n").dropFirst()
        return String(try #require(blocks.dropFirst(number).first?.split(separator: "```").first))
    }

    @Test func `the Swift example of the guide is compiled here`() throws {
        let source = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
        let lines = try block("swift").split(separator: "\n")
        #expect(lines.count == 5)
        for line in lines { #expect(source.contains("        \(line)\n"), "\(line)") }
    }

    @Test func `the Swift example of the guide runs with the model and the note of the guide`() throws {
        let store = try Store.inMemory(schema: try Schema(SchemaDefinition(json: Array(try block("json").utf8))))
        let entity = try store.schema.required("Note")
        _ = try store.importRows(entity, from: [.bytes(Array(try block("json", 1).utf8))], ImportOptions())
        let clone = try example(store, ObjectID(root: entity.root, serial: 1))
        #expect(clone.summary.counts.map { "\($0.entity.name) \($0.count)" } == ["Note 1", "Item 2", "NoteDescription 1"])
    }
}

// The README shows this example in few lines.
// swift-format-ignore-file

#if Macros
    import Cambium
    import Foundation
    import Testing

    /// The code of README.md, word for word.
    @Entity struct Note {
        @Identity var id: Int
        var title = ""
        @Relationship(inverse: \Item.note, onDelete: .cascade) var items: [Item] = []
    }
    @Entity struct Item { var name: String; var note: Ref<Note>? }

    @Suite struct READMEExample {
        private func example(_ path: String) throws {
            let store = try Store.open(at: path, creating: Schema(of: Note.self))
            try store.importRows(Note.self, from: .file("notes.json"))  // finds notes by id, and inserts the others
            let start = store.graph  // a value: it never changes, and to read it never waits
            for note in try start.fetch(Note.self, where: { $0.id < 100 && $0.title.hasPrefix("P") && $0.items.count > 1 })
            where try start.find(Note.self, identity: note.id + 100) == nil {  // otherwise, an earlier run has cloned the note
                try store.clone(note, CloneRequest(rootValues: ["id": .int(Int64(note.id + 100))]), Author(actor: "jane"))
            }
            print(try store.graph.changes(since: start).records(of: Note.self).inserted.map(\.title))
            try store.close()
        }

        @Test func `the example of the README imports, queries, clones and shows the changes`() throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "cambium-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }  // The operating system removes leftovers.
            let rows = #"[{"id": 1, "title": "Paris", "items": [{"name": "a"}, {"name": "b"}]}, {"id": 2, "title": "Oslo"}]"#
            let here = FileManager.default.currentDirectoryPath
            try Data(rows.utf8).write(to: folder.appending(path: "notes.json"))
            #expect(FileManager.default.changeCurrentDirectoryPath(folder.path))
            defer { _ = FileManager.default.changeCurrentDirectoryPath(here) }
            try example("store")
            let graph = try ReadOnlyStore(at: "store").graph
            #expect(try graph.count(RecordQuery<Note>()) == 3)
            #expect(try graph.find(Note.self, identity: 101)?.items.map(\.name) == ["a", "b"])
            try example("store")
            #expect(try ReadOnlyStore(at: "store").graph.count(RecordQuery<Note>()) == 3)
        }

        @Test func `the README shows this code`() throws {
            let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
            let block = try #require(readme.firstMatch(of: /(?s)```swift macros\nimport Cambium\n(.*?)```/)?.1)
            let lines = { (text: Substring) in text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) } }
            let source = Set(lines(Substring(try String(contentsOf: URL(filePath: #filePath), encoding: .utf8))))
            // The code has 15 lines, with the line that imports the library.
            #expect(lines(block).count(where: { !$0.isEmpty }) == 14)
            for line in lines(block) where !line.isEmpty { #expect(source.contains(line)) }
        }
    }
#endif

import Foundation
import Testing

/// A page for users: the README, a guide, or a page of the DocC catalog.
struct Document: CustomTestStringConvertible {
    /// A fenced piece of code.
    struct Block {
        /// The words after the fence. `swift` is code that a test compiles; `swift macros` is code that the tests of the macros
        /// compile; `swift theirs` is code of another library.
        let kind: String
        let code: String
    }

    /// The root of the repository.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    let url: URL
    let text: String
    let blocks: [Block]

    init(_ url: URL) throws {
        self.url = url
        text = try String(contentsOf: url, encoding: .utf8)
        blocks = text.matches(of: /(?ms)^```([a-z ]*)\n(.*?)^```$/).map { Block(kind: String($0.1), code: String($0.2)) }
    }

    var testDescription: String { url.lastPathComponent }

    /// The name of the page without its extension, such as `Daemon`.
    var name: String { url.deletingPathExtension().lastPathComponent }

    /// The code that a test compiles, without imports and without space at the ends of lines.
    var snippets: [String] { blocks.filter { $0.kind == "swift" }.map { Self.trimmed($0.code.replacing(/(?m)^import .*$/, with: "")) } }

    /// Returns the lines of a text without indentation and without empty lines.
    static func trimmed(_ text: some StringProtocol) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }.joined(separator: "\n")
    }

    /// Returns the README, the guides and the pages of the DocC catalog.
    static func all() throws -> [Document] {
        try [Document(root.appending(path: "README.md"))] + pages(in: "Docs/Guides") + pages(in: "Sources/Cambium/Cambium.docc")
    }

    /// Returns the documents in Docs, which describe one part of Cambium each.
    static func references() throws -> [Document] { try ["Docs", "Docs/Use", "Docs/Operate", "Docs/Formats"].flatMap(pages) }

    /// Returns the texts of the Swift files in a folder.
    ///
    /// - Parameter prefix: The beginning of the files' names.
    static func sources(in folder: String, prefix: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(at: root.appending(path: folder), includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "swift" && $0.lastPathComponent.hasPrefix(prefix) }
            .map { try String(contentsOf: $0, encoding: .utf8) }
    }

    /// The products that `import Cambium` shows.
    static let products = ["CambiumStore", "CambiumEdits", "CambiumRecords", "CambiumExchange", "CambiumOperations", "CambiumProofs"]

    /// Returns the names of the types that the listings of products in Docs/API have, without types inside of other types.
    static func publicTypes(of products: [String]) throws -> [String] {
        try products.flatMap { product in
            let listing = try String(contentsOf: root.appending(path: "Docs/API/\(product).txt"), encoding: .utf8)
            return listing.matches(of: /(?m)^(?:final |indirect )*(?:class|struct|enum|protocol) (\w+)/).map { String($0.1) }
        }
    }

    private static func pages(in folder: String) throws -> [Document] {
        try FileManager.default.contentsOfDirectory(at: root.appending(path: folder), includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "md" }.sorted { $0.path < $1.path }.map { try Document($0) }
    }
}

/// Calls `body` with the path of a new folder, which is removed afterwards.
func withFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "cambium-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }  // The operating system removes leftovers.
    return try await body(folder.path)
}

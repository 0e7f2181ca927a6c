import Foundation
import Testing

/// The docstrings of public declarations show code that compiles with nothing but the public declarations.
@Suite struct DocstringTests {
    private static let products = Document.products + ["CambiumCoreData", "CambiumTesting"]
    /// Each product has a module of the same name. The core also exports three modules.
    private static let modules = products + ["CambiumGraph", "CambiumJSON", "CambiumModel"]
    private static let docstrings = Result { try Docstring.all(of: modules) }

    /// Returns the snippets that none of the sources contains, each with its place.
    private static func uncompiledSnippets(of docstrings: [Docstring], in sources: [String]) -> [String] {
        docstrings.flatMap { docstring in
            docstring.snippets
                .filter { snippet in !sources.contains { $0.range(of: snippet, options: .literal) != nil } }
                .map { "\(docstring.path): \(docstring.declaration): \($0)" }
        }
    }

    /// Returns the types that have no docstring with an example.
    private static func typesWithoutExample(_ types: [String], in docstrings: [Docstring]) -> [String] {
        let shown = Set(docstrings.filter { !$0.snippets.isEmpty }.compactMap(\.publicType))
        return types.filter { !shown.contains($0) }
    }

    /// Returns the places of docstrings with code that no test compiles, because the code has no fence. Code in the docstrings of macros
    /// has no fence, because these tests are built without macros.
    private static func unfencedCode(in docstrings: [Docstring]) -> [String] {
        docstrings.filter { $0.isPublic && $0.hasUnfencedCode && !$0.declaration.contains(" macro ") }
            .map { "\($0.path): \($0.declaration)" }
    }

    @Test func `each snippet of a docstring is in a test of docstrings, word for word`() throws {
        let folder = Document.root.appending(path: "Tests/DocumentationTests")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasPrefix("Docstring") && $0.lastPathComponent.hasSuffix("Snippets.swift") }
        let sources = try files.map { Document.trimmed(try String(contentsOf: $0, encoding: .utf8)) }
        let docstrings = try Self.docstrings.get()
        #expect(docstrings.reduce(0) { $0 + $1.snippets.count } > 180)
        #expect(Self.uncompiledSnippets(of: docstrings, in: sources) == [])
    }

    @Test func `each public type has an example`() throws {
        let types = try Document.publicTypes(of: Self.products)
        #expect(types.count > 130)
        let missing = Self.typesWithoutExample(types, in: try Self.docstrings.get())
        #expect(missing == [])
    }

    @Test func `no docstring of a public declaration has code without a fence`() throws {
        #expect(Self.unfencedCode(in: try Self.docstrings.get()) == [])
    }

    private static let sample = """
        /// A place for products.
        ///
        /// ```swift
        /// let shelf = Shelf()
        ///
        /// print(shelf)
        /// ```
        @dynamicMemberLookup
        public final class Shelf: Sendable {
            /// A code.
            ///
            ///     print(shelf.code)
            public var code = ""
            /// A kind of shelf.
            public enum Kind {}
        }
        /// A thing on a shelf.
        ///
        /// - Parameter name: The name,
        ///     on two lines.
        @frozen public struct Product<Value>: Sendable {}
        """

    @Test func `a snippet that no test contains is found, with its place`() {
        let docstrings = Docstring.all(in: Self.sample, path: "Shelf.swift")
        #expect(Self.uncompiledSnippets(of: docstrings, in: ["let shelf = Shelf()\nprint(shelf)"]).isEmpty)
        let found = Self.uncompiledSnippets(of: docstrings, in: ["let shelf = Shelf()", "print(shelf)"])
        #expect(found == ["Shelf.swift: public final class Shelf: Sendable {: let shelf = Shelf()\nprint(shelf)"])
    }

    @Test func `a type without an example is found`() {
        let docstrings = Docstring.all(in: Self.sample, path: "Shelf.swift")
        #expect(docstrings.compactMap(\.publicType) == ["Shelf", "Product"])
        #expect(Self.typesWithoutExample(["Product", "Shelf", "Store"], in: docstrings) == ["Product", "Store"])
    }

    @Test func `code without a fence is found`() {
        #expect(Self.unfencedCode(in: Docstring.all(in: Self.sample, path: "Shelf.swift")) == ["Shelf.swift:     public var code = \"\""])
    }
}

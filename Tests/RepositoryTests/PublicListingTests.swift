import Foundation
import Testing

struct PublicListingTests {
    private static let sources = Result { try Repository.current.texts(in: ["Sources"], suffix: ".swift") }

    @Test(arguments: PublicListing.products)
    func `the listing of a product's public declarations is the one in the documents`(product: PublicListing.Product) throws {
        let listing = PublicListing(of: product, in: try Self.sources.get())
        let url = Repository.current.root.appendingPathComponent(product.path)
        if ProcessInfo.processInfo.environment["CAMBIUM_TEST"] == "write" {
            try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(listing.text.utf8).write(to: url)
        }
        let old = try Repository.current.text(product.path).text
        for line in listing.differences(from: old) { Issue.record("\(product.path): \(line). Run script/api if this is intended.") }
        #expect(listing.count > 0)
        #expect(listing.count <= product.countMax, "\(product.name) may have \(product.countMax) public declarations.")
    }

    @Test func `each public declaration belongs to the listing of one product`() throws {
        #expect(PublicListing.unlisted(try Self.sources.get(), PublicListing.products) == [])
        #expect(PublicListing.products.reduce(0) { $0 + $1.modules.count } == Set(PublicListing.products.flatMap(\.modules)).count)
        let files = try Repository.current.texts(in: [PublicListing.folder])
        #expect(files.map(\.path).sorted() == PublicListing.products.map(\.path).sorted())
    }

    @Test func `a module outside of the products is found, and a product counts only its own modules`() {
        let files = ["Shop", "Other"].map { TextFile(path: "Sources/\($0)/Item.swift", text: "public struct Item {}\n") }
        let shop = PublicListing.Product(name: "Shop", modules: ["Shop"], countMax: 0)
        #expect(PublicListing.unlisted(files, [shop]) == ["Other"])
        #expect(PublicListing(of: shop, in: files).count == 1)
    }

    private func lines(_ text: String) -> [String] { PublicDeclarations(TextFile(path: "Sources/Shop/Item.swift", text: text)).lines }

    @Test func `a declaration is listed with its types and without its body`() {
        let text = """
            public struct Item: Sendable {
                public let name = "none"
                package var price: Int
                extension Part { public enum Kind { case one } }

                /// public func comment()
                @discardableResult
                public func sum(
                    of items: [Item], limit: Int = 3
                ) throws -> Int {
                    let public = 3
                }

                public init() {}
            }

            extension Item.Part {
                public var isNew: Bool { true }
            }
            """
        #expect(
            lines(text) == [
                "struct Item: Sendable", #"Item.let name = "none""#, "Item.func sum(of items: [Item], limit: Int = 3) throws -> Int",
                "Item.init()", "Item.Part.var isNew: Bool",
            ])
    }

    @Test func `the cases of a public enumeration and the requirements of a public protocol are listed`() {
        let text = """
            public enum Kind {
                case one
                case two(Int)

                var text: String {
                    switch self {
                    case .one: "1"
                    }
                }
            }

            package enum Hidden {
                case one
            }

            public protocol Named {
                var name: String { get }
            }
            """
        #expect(lines(text) == ["enum Kind", "Kind.case one", "Kind.case two(Int)", "protocol Named", "Named.var name: String"])
    }

    @Test func `a declaration with an underscore and its members are not listed`() {
        let text = """
            public protocol _Part: Sendable {
                static var form: Int { get }
            }

            extension Item: _Part {
                public init(_part: Int) {}
                public init(_ part: Int) {}
                public static var _form: Int { 3 }
                public mutating func _write(_ part: Int) {}
                public func write(_part: Int) {}
            }
            """
        #expect(lines(text) == ["Item.init(_ part: Int)", "Item.func write(_part: Int)"])
    }

    @Test func `a declaration that is added, changed or removed is a difference`() {
        func listing(_ text: String) -> PublicListing { PublicListing(of: [TextFile(path: "Sources/Shop/Item.swift", text: text)]) }
        let old = listing("public struct Item {\n    public let name: String\n}\n").text
        let changed = listing("public struct Item {\n    public let name: String?\n    public let price: Int\n}\n")
        #expect(
            Set(changed.differences(from: old)).isSuperset(of: [
                "- Item.let name: String", "+ Item.let name: String?", "+ Item.let price: Int",
            ]))
        #expect(listing("public struct Item {\n    public let name: String\n}\n").differences(from: old) == [])
    }
}

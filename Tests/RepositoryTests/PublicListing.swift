import Testing

/// The public declarations of the modules of one product. The folder Docs/API has a listing for each product, so that each change of it is
/// reviewed.
struct PublicListing {
    /// A library of the package, with the modules that only it or the libraries above it export.
    struct Product: CustomTestStringConvertible {
        let name: String
        let modules: Set<String>
        /// The limit of the product's declarations. A product that grows beyond it needs a review, not only a new listing.
        let countMax: Int

        var path: String { "\(PublicListing.folder)/\(name).txt" }
        var testDescription: String { name }
    }

    static let folder = "Docs/API"

    static let products = [
        Product(name: "CambiumStore", modules: ["CambiumStore", "CambiumGraph", "CambiumModel", "CambiumJSON"], countMax: 529),
        Product(name: "CambiumEdits", modules: ["CambiumEdits"], countMax: 200),
        Product(name: "CambiumRecords", modules: ["CambiumRecords"], countMax: 246),
        Product(name: "CambiumExchange", modules: ["CambiumExchange"], countMax: 200),
        Product(name: "CambiumOperations", modules: ["CambiumOperations"], countMax: 200),
        Product(name: "CambiumProofs", modules: ["CambiumProofs"], countMax: 200),
        Product(name: "CambiumCoreData", modules: ["CambiumCoreData"], countMax: 200),
        Product(name: "CambiumTesting", modules: ["CambiumTesting"], countMax: 200),
    ]

    /// Places that no product shows. They are public because the compiler inlines only public functions of other modules.
    private static let hidden = [
        "Sources/CambiumBytes/", "Sources/CambiumJSON/JSONParser", "Sources/CambiumJSON/JSONTokens", "Sources/CambiumJSON/JSONWriter",
    ]

    let count: Int
    let text: String

    /// - Parameter files: the sources, sorted by their paths.
    init(of files: [TextFile]) {
        let files = Self.shown(files)
        count = files.reduce(0) { $0 + PublicDeclarations($1).count }
        text = (["\(count) public declarations. script/api writes this file."] + Self.grouped(files)).joined(separator: "\n") + "\n"
    }

    init(of product: Product, in files: [TextFile]) { self.init(of: files.filter { product.modules.contains($0.target ?? "") }) }

    /// Returns the names of the targets that have public declarations and belong to none of the products.
    static func unlisted(_ files: [TextFile], _ products: [Product]) -> Set<String> {
        let listed = products.reduce(into: Set<String>()) { $0.formUnion($1.modules) }
        return Set(shown(files).filter { !listed.contains($0.target ?? "") && PublicDeclarations($0).count > 0 }.compactMap(\.target))
    }

    private static func shown(_ files: [TextFile]) -> [TextFile] { files.filter { file in !hidden.contains { file.path.hasPrefix($0) } } }

    private static func grouped(_ files: [TextFile]) -> [String] {
        Dictionary(grouping: files) { $0.target ?? "" }.sorted { $0.key < $1.key }.flatMap { target, files in
            let lines = files.flatMap { PublicDeclarations($0).lines }
            return lines.isEmpty ? [] : ["", "# \(target)", ""] + lines.sorted()
        }
    }

    /// Returns the lines that differ from a listing: `+` for a new declaration, `-` for one that is gone.
    func differences(from old: String) -> [String] {
        let change = text.split(separator: "\n").difference(from: old.split(separator: "\n"))
        return change.map { step in
            switch step {
            case .insert(_, let line, _): "+ \(line)"
            case .remove(_, let line, _): "- \(line)"
            }
        }
    }
}

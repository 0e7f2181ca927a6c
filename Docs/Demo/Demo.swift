import Cambium
import Foundation

/// Runs the main functions of a store, step by step, on the package graph of this machine.
///
/// `script/demo [DIRECTORY]` builds and runs this program. The store is kept in the directory, or in a temporary one.
@main
struct Demo {
    /// The directory of the store.
    let store: String

    static func main() {
        do {
            let arguments = CommandLine.arguments.dropFirst()
            let parent = FileManager.default.temporaryDirectory
            try Demo(store: arguments.first ?? parent.appending(path: "cambium-demo-\(UUID())").path()).run()
        } catch {
            FileHandle.standardError.write(Data("demo: \(error)\n".utf8))
            exit(1)
        }
    }

    func run() throws {
        let schema = try Schema(PackageRows.schema)
        // The store is created before the lists are read, so that an unsuitable directory is refused immediately.
        let made = try Store.create(at: store, schema: schema, author: Author(actor: "demo"))
        print("The store '\(store)' was created.")
        title("This machine's packages")
        let lists = PackageLists.read()
        let rows = try PackageRows.jsonLines(lists.paragraphs)
        detail("\(Self.count(lists.paragraphs.count, "paragraph")) from \(lists.origin), as \(Self.bytes(rows.count)) of JSON Lines")
        let package = try schema.required("Package")
        try importRows(made, package, .bytes(rows, name: "packages.jsonl"))
        try checkpoint(made)
        try importAgain(made, package, .bytes(rows, name: "packages.jsonl"))
        let name = try show(made.graph, package)
        try ask(made.graph, name)
        let before = made.graph.transaction
        try made.label("imported", author: Author(actor: "demo"))
        try edit(made, package, name)
        try timeTravel(before, package, name)
        try clone(made, package, name)
        try made.close()
        try reopen(made.graph)
        try verify()
        try compact()
        suggest(name)
    }

    // MARK: Steps

    private var author: Author { Author(actor: "demo", message: "import the package lists") }

    private func importRows(_ store: Store, _ package: Entity, _ rows: ImportSource) throws {
        title("Import")
        var report = ImportReport()
        let seconds = try timed { report = try store.importRows(package, from: [rows], author: author) }
        let graph = store.graph
        detail(
            "\(Self.count(graph.objectCount)) objects and \(Self.count(graph.linkCount)) links in one transaction: "
                + "\(Self.seconds(seconds)), \(Self.bytes(report.logByteCount)) of log, synced to disk"
        )
        for (name, counts) in report.entities.sorted(by: { $0.key < $1.key }) { detail("  \(name): \(Self.text(counts))") }
    }

    private func importAgain(_ store: Store, _ package: Entity, _ rows: ImportSource) throws {
        title("Import the same rows again")
        var report = ImportReport()
        let logBefore = logContents()
        let again = try timed { report = try store.importRows(package, from: [rows], author: author) }
        let isIdentical = logContents() == logBefore
        detail(
            "\(Self.text(report.counts)) in \(Self.seconds(again)): "
                + (report.transaction == nil ? "nothing was appended" : "SOMETHING CHANGED")
                + ", and the log is \(isIdentical ? "byte for byte as it was" : "NOT AS IT WAS")"
        )
        guard report.transaction == nil, isIdentical else {
            throw CambiumError(.corrupted, "An import of the same rows changed the store. Please report this.")
        }
    }

    private func show(_ graph: Graph, _ package: Entity) throws -> String {
        title("One package, with its versions and dependencies")
        let names = ["bash", "apt", "dpkg"]
        let found = names.first { graph.place(package, identity: [.string($0)]) != nil }
        let place =
            found.flatMap { graph.place(package, identity: [.string($0)]) }
            ?? graph.objects(of: package).lazy.compactMap { graph.place(of: $0) }.first
        guard let place else {
            throw CambiumError(
                .notFound, "The lists of packages on this machine are empty, so there is no package to show. Run 'apt-get update' first.")
        }
        for key in ["name", "summary"] {
            let field = graph.field(try package.requiredAttribute(key))
            detail("\(key.padding(toLength: 10, withPad: " ", startingAt: 0))  \(graph.value(of: field, at: place).text)")
        }
        detail("section     \(try self.names(graph, place, "section").first ?? "none")")
        let versions = graph.end(try package.requiredRelationship("versions"))
        for version in graph.members(versions, of: place) { try describe(graph, version: version) }
        for key in Self.lists {
            let names = try self.names(graph, place, key)
            detail("\(key.padding(toLength: 10, withPad: " ", startingAt: 0))  \(names.isEmpty ? "none" : names.joined(separator: " "))")
        }
        let dependents = graph.memberCount(graph.end(try package.requiredRelationship("dependents")), of: place)
        detail("\(Self.count(dependents, "package")) depend\(dependents == 1 ? "s" : "") on it")
        let name = graph.column(try package.requiredAttribute("name"))
        return found ?? name.string(at: place) ?? ""
    }

    private static let lists = ["depends", "recommends", "suggests"]

    private func describe(_ graph: Graph, version: ObjectPlace) throws {
        let entity = graph.entity(of: version)
        func text(_ name: String) throws -> String { graph.value(of: graph.field(try entity.requiredAttribute(name)), at: version).text }
        let sizes = try ["downloadSize", "installedSize"].map { Self.bytes(Int(try text($0)) ?? 0) }
        detail(
            "version     \(try text("number")) \(try text("architecture")), \(sizes[0]) to download, "
                + "\(sizes[1]) installed, maintained by \(try self.names(graph, version, "maintainer").first ?? "an unknown maintainer")")
    }

    /// Returns the sorted names of the objects to which a relationship leads.
    private func names(_ graph: Graph, _ place: ObjectPlace, _ key: String) throws -> [String] {
        let relationship = try graph.entity(of: place).requiredRelationship(key)
        guard let destination = graph.schema.entity(relationship.destination) else { return [] }
        let name = graph.column(try destination.requiredAttribute("name"))
        return graph.members(graph.end(relationship), of: place).compactMap { name.string(at: $0) }.sorted()
    }

    private func edit(_ store: Store, _ package: Entity, _ name: String) throws {
        title("Edit")
        guard let place = store.graph.place(package, identity: [.string(name)]) else { return }
        let id = store.graph.id(of: place)
        var byteCount = 0
        let seconds = try timed {
            let (_, receipt) = try store.write(Author(actor: "demo", message: "a better summary")) { transaction in
                try transaction.set(id, "summary", to: .string("edited by the demo"))
            }
            byteCount = receipt.logByteCount
        }
        detail("the summary of \(name), in \(Self.count(byteCount, "byte")) of log, durable after \(Self.seconds(seconds))")
        struct Refused: Error {}
        do {
            try store.write { transaction in
                try transaction.delete(id)
                throw Refused()
            }
        } catch is Refused {
            let isThere = store.graph.contains(id)
            detail("a transaction that deletes \(name) and then fails \(isThere ? "changes nothing" : "DELETES IT")")
        }
    }

    private func timeTravel(_ before: TransactionNumber, _ package: Entity, _ name: String) throws {
        title("Time travel")
        for point in [Point.label("imported"), .latest] {
            var summary = ""
            let seconds = try timed {
                let graph = try ReadOnlyStore(at: store, point: point).graph
                guard let place = graph.place(package, identity: [.string(name)]) else { return }
                summary = graph.column(try package.requiredAttribute("summary")).string(at: place) ?? "none"
            }
            let place = point == .latest ? "latest:" : "at label:imported (transaction \(before)):"
            detail("\(place) '\(summary)' (opened in \(Self.seconds(seconds)))")
        }
    }

    private func clone(_ store: Store, _ package: Entity, _ name: String) throws {
        title("A deep clone")
        guard let place = store.graph.place(package, identity: [.string(name)]) else { return }
        let original = store.graph.id(of: place)
        var request = CloneRequest()
        request.rootValues = ["name": .string("\(name)-copy")]
        var made: (result: Clone, receipt: Receipt)?
        let author = Author(actor: "demo", message: "a copy to try things on")
        let seconds = try timed { made = try store.write(author) { try $0.clone(original, request) } }
        guard let (clone, receipt) = made else { return }
        let counts = clone.summary.counts.map { Self.count($0.count, $0.entity.name) }.joined(separator: ", ")
        detail(
            "\(name) with the objects that it owns: \(counts), in \(Self.count(receipt.logByteCount, "byte")) of log "
                + "and \(Self.seconds(seconds))")
        guard let copy = receipt.graph.place(of: clone.root) else { return }
        let versions = receipt.graph.end(try package.requiredRelationship("versions"))
        for version in receipt.graph.members(versions, of: copy) {
            let field = receipt.graph.field(try receipt.graph.entity(of: version).requiredAttribute("name"))
            detail("its version is copied, too, and takes its name: \(receipt.graph.value(of: field, at: version).text)")
        }
        detail("\(try names(receipt.graph, copy, "depends").count) dependencies, the section and the tags are shared with \(name)")
    }

    private func suggest(_ name: String) {
        title("Commands to try")
        let store = "'\(store)'"
        for command in [
            "find \(store) Package --identity \(name)", "find \(store) Package --identity \(name)-copy --include versions",
            "find \(store) Section --limit 5", "log \(store) --ops",
            "export \(store) Maintainer", "stats \(store)", "verify \(store)",
        ] {
            detail("cambium \(command)")
        }
    }

    // MARK: Output

    func title(_ text: String) { print("\n\(text)") }
    func detail(_ text: String) { print("  \(text)") }

    static func count(_ value: Int, _ noun: String? = nil) -> String {
        value.formatted() + (noun.map { " \($0)\(value == 1 ? "" : "s")" } ?? "")
    }
    static func bytes(_ value: Int) -> String { value.formatted(.byteCount(style: .memory)) }
    static func seconds(_ duration: Duration) -> String {
        let milliseconds = duration / .milliseconds(1)
        return "\(milliseconds.formatted(.number.precision(.significantDigits(1...3)))) ms"
    }
    static func text(_ counts: ImportReport.Counts) -> String {
        "\(count(counts.inserted)) inserted, \(count(counts.updated)) updated, \(count(counts.unchanged)) unchanged"
    }

    func timed(_ body: () throws -> Void) rethrows -> Duration { try ContinuousClock().measure(body) }

    /// Returns the sorted names of the files in a directory. Returns no names if the directory cannot be read.
    static func fileNames(in directory: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted()  // A machine may lack apt's lists.
    }

    /// Returns the bytes of every file of the log.
    private func logContents() -> [String: Data?] {
        let names = Self.fileNames(in: store + "/log").filter { $0.hasSuffix(".log") }
        return Dictionary(uniqueKeysWithValues: names.map { ($0, FileManager.default.contents(atPath: "\(store)/log/\($0)")) })
    }
}

import ArgumentParser
import Cambium
import CambiumJSON

#if canImport(Glibc)
    import Glibc
#endif

struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Import this machine's package graph, and show what a store does with it.",
        discussion: Discussion.text(
            "Keeps the store in the given directory, or in a temporary one, and suggests commands to try on it.",
            examples: "cambium demo", "cambium demo packages"))

    @Argument(
        help: "The store: a directory that does not exist yet, or is empty. A temporary directory by default.", completion: .directory)
    var directory: String?

    func run() throws {
        let demo = Demo(store: try directory ?? Self.temporaryDirectory())
        try demo.run()
    }

    private static func parentDirectory() throws -> String {
        guard let variable = getenv("TMPDIR") else { return TemporaryDirectory.path(nil) }
        guard let path = String(validatingCString: variable) else {
            throw ValidationError("TMPDIR is not UTF-8. Name a directory as the argument.")
        }
        return TemporaryDirectory.path(path)
    }

    private static func temporaryDirectory() throws -> String {
        let parent = try parentDirectory()
        var template = Array("\(parent)/cambium-demo-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            let reason = String(cString: strerror(errno))
            throw CambiumError(
                .cannotCreate, "No directory can be created in '\(parent)': \(reason). Name a directory as the argument.")
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// Runs the main functions of a store, step by step, on real data.
struct Demo {
    let store: String

    func run() throws {
        let schema = try Schema(PackageRows.schema)
        // The store is created before the lists are read, so that an unsuitable directory is refused immediately.
        let made = try Store.create(at: store, schema: schema, author: Author(actor: "demo"))
        Terminal.note("The store '\(store)' was created.")
        title("This machine's packages")
        let lists = PackageLists.read()
        let rows = PackageRows.jsonLines(lists.paragraphs)
        detail("\(Readable.of(lists.paragraphs.count, "paragraph")) from \(lists.origin), as \(Readable.bytes(rows.count)) of JSON Lines")
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
            "\(Readable.count(graph.objectCount)) objects and \(Readable.count(graph.linkCount)) links in one transaction: "
                + "\(Readable.seconds(seconds)), \(Readable.bytes(report.logByteCount)) of log, synced to disk"
        )
        for (name, counts) in report.entities.sorted(by: { $0.key < $1.key }) { detail("  \(name): \(ReportText.counts(counts))") }
    }

    private func importAgain(_ store: Store, _ package: Entity, _ rows: ImportSource) throws {
        title("Import the same rows again")
        var report = ImportReport()
        let logBefore = try logContents()
        let again = try timed { report = try store.importRows(package, from: [rows], author: author) }
        let isIdentical = try logContents() == logBefore
        detail(
            "\(ReportText.counts(report.counts)) in \(Readable.seconds(again)): "
                + (report.transaction == nil ? "nothing was appended" : "SOMETHING CHANGED")
                + ", and the log is \(isIdentical ? "byte for byte as it was" : "NOT AS IT WAS")"
        )
        guard report.transaction == nil, isIdentical else {
            throw CambiumError(.damaged, "An import of the same rows changed the store. Please report this.")
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
            detail("\(key.padded(to: 10))  \(graph.value(of: field, at: place).text)")
        }
        detail("\("section".padded(to: 10))  \(try self.names(graph, place, "section").first ?? "none")")
        let versions = graph.end(try package.requiredRelationship("versions"))
        for version in graph.members(versions, of: place) { try describe(graph, version: version) }
        for key in Self.lists {
            let names = try self.names(graph, place, key)
            detail("\(key.padded(to: 10))  \(names.isEmpty ? "none" : names.joined(separator: " "))")
        }
        let dependents = graph.memberCount(graph.end(try package.requiredRelationship("dependents")), of: place)
        detail("\(Readable.of(dependents, "package")) depend\(dependents == 1 ? "s" : "") on it")
        let name = graph.column(try package.requiredAttribute("name"))
        return found ?? name.string(at: place) ?? ""
    }

    private static let lists = ["depends", "recommends", "suggests"]

    private func describe(_ graph: Graph, version: ObjectPlace) throws {
        let entity = graph.entity(of: version)
        func text(_ name: String) throws -> String { graph.value(of: graph.field(try entity.requiredAttribute(name)), at: version).text }
        let sizes = try ["downloadSize", "installedSize"].map { Readable.bytes(Int(try text($0)) ?? 0) }
        detail(
            "\("version".padded(to: 10))  \(try text("number")) \(try text("architecture")), \(sizes[0]) to download, "
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
        detail("the summary of \(name), in \(Readable.of(byteCount, "byte")) of log, durable after \(Readable.seconds(seconds))")
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
            detail("\(place) '\(summary)' (opened in \(Readable.seconds(seconds)))")
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
        let counts = clone.summary.counts.map { Readable.of($0.count, $0.entity.name) }.joined(separator: ", ")
        detail(
            "\(name) with the objects that it owns: \(counts), in \(Readable.of(receipt.logByteCount, "byte")) of log "
                + "and \(Readable.seconds(seconds))")
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
        let store = ShellWord.quoted(store)
        for command in [
            "find \(store) Package --identity \(name)", "find \(store) Package --identity \(name)-copy --include versions",
            "find \(store) Section --limit 5", "log \(store) --ops",
            "export \(store) Maintainer", "stats \(store)", "verify \(store)",
        ] {
            detail("cambium \(command)")
        }
    }

    // MARK: Output

    func title(_ text: String) {
        Terminal.print("")
        Terminal.print(text)
    }
    func detail(_ text: String) { Terminal.print("  " + text) }

    func timed(_ body: () throws -> Void) rethrows -> Duration { try ContinuousClock().measure(body) }

    /// Returns the bytes of every file of the log.
    private func logContents() throws -> [String: [UInt8]] {
        var contents: [String: [UInt8]] = [:]
        for name in FileNames.sorted(in: store + "/log") where name.hasSuffix(".log") {
            contents[name] = try Terminal.contents(of: "\(store)/log/\(name)", byteCountMax: .max)
        }
        return contents
    }
}

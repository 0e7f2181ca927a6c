import Cambium
import CambiumGraph
import CambiumJSON
import CambiumLog
import CambiumModel

/// The fuzz target for the pages of a checkpoint. It changes numbers in the pages and recomputes the checksums. The store is then opened,
/// read, verified and written to, or refused. Nothing traps, and a store that verifies has the graph of its log.
///
/// An input consists of choices, up to four times: a page, a number in it, and its replacement.
enum PageTarget {
    private struct Sample {
        let pages: ForgedPages
        /// The pages in the checkpoint that are not free, each with the positions and widths of its numbers.
        let fields: [(page: ForgedPages.Page, fields: [(place: Int, width: Int)])]
        let digest: GraphDigest

        init() throws {
            let volume = MemoryVolume(contents: try SampleStore().files)
            let store = try Store.open(volume, durability: nil, environment: SampleStore.environment)
            try store.label("the label")
            _ = try store.checkpoint()
            try store.write { _ = try $0.insert("Tag", ["name": .string("behind it")]) }
            digest = store.graph.digest()
            try store.close()
            let pages = try ForgedPages(volume.contents)
            self.pages = pages
            fields = pages.pages.filter { $0.kind != 0 }.map { ($0, PageMutation.fields(of: $0, in: pages)) }
        }
    }

    private static let sample = Result { try Sample() }

    @Sendable static func seeds() throws -> [[UInt8]] {
        var seeds: [[UInt8]] = [[]]
        for number: UInt8 in 0..<60 { seeds.append([number, 0, number &* 5, 0, number &* 3, number & 15]) }
        return seeds
    }

    @Sendable static func run(_ input: [UInt8]) throws {
        let sample = try sample.get()
        var choices = Choices(input)
        var forged = sample.pages
        for _ in 0..<4 where !choices.isOver {
            guard let (page, fields) = choices.pick(sample.fields) else { return }
            if let mutation = mutation(page, fields, forged, &choices) { forged.apply(mutation) }
        }
        let contents = try forged.files()
        read(contents)
        try verify(contents, sample.digest)
        write(contents)
    }

    private static func mutation(
        _ page: ForgedPages.Page, _ fields: [(place: Int, width: Int)], _ pages: ForgedPages, _ choices: inout Choices
    ) -> PageMutation? {
        if choices.isRare() {
            let width = choices.pick([1, 2, 4, 8]) ?? 1
            let place = Int(choices.raw(byteCount: 2)) % max(1, page.byteCount - width + 1)
            return PageMutation(page, at: place, width: width, value: choices.number())
        }
        guard let field = choices.pick(fields) else { return nil }
        let values = PageMutation.values(of: field, page, in: pages)
        let value = choices.isRare() ? choices.number() : choices.pick(values) ?? 0
        return PageMutation(page, at: field.place, width: field.width, value: value)
    }

    // MARK: Uses of the store

    /// Reads the graph and writes each object. The graph may be unsound, because only `verify` compares it with the log.
    private static func read(_ contents: [String: [UInt8]]) {
        do {
            let graph = try ReadOnlyStore(MemoryVolume(contents: contents)).graph
            _ = graph.digest()
            let objects = ObjectWriter(graph)
            var writer = JSONWriter()
            graph.forEachObject(of: nil) { place in
                objects.write(place, to: &writer)
                writer.removeAll()
            }
        } catch {}  // Refused.
    }

    private static func verify(_ contents: [String: [UInt8]], _ digest: GraphDigest) throws {
        let verification = try Verification(MemoryVolume(contents: contents))
        if verification.isSound, verification.digest != digest { throw Finding("verification accepts a graph that differs") }
    }

    private static func write(_ contents: [String: [UInt8]]) {
        do {
            let volume = MemoryVolume(contents: contents)
            let store = try Store.open(volume, durability: nil, environment: SampleStore.environment)
            try store.write { transaction in
                let tag = try transaction.insert("Tag", ["name": .string("written")])
                let thing = try transaction.insert("Thing", ["id": .int(1000), "title": .string("written")])
                try transaction.link(thing, "tags", tag)
            }
            for name in ["Thing", "Step", "Person"] {
                guard let entity = store.schema.entity(name), let object = store.graph.objects(of: entity).first(where: { _ in true })
                else { continue }
                do { try store.write { try $0.delete(object) } } catch {}  // A rule, or a corrupt page.
            }
            _ = try store.checkpoint()
            try store.close()
            _ = try ReadOnlyStore(volume).graph.digest()
        } catch {}  // Refused.
    }
}

import Cambium
import CambiumLog
import CambiumModel

/// A store with every kind of page and op: the sample store with long values, shared values, clones, groups that several virtual pages
/// share, split indexes, labels and requests. Its newest checkpoint holds all transactions except the last one.
///
///     let sample = try ForgedSample()
///     let pages = try ForgedPages(sample.files)
package struct ForgedSample: Sendable {
    /// The contents of the files by path.
    package let files: [String: [UInt8]]
    /// The digest of the newest graph.
    package let digest: GraphDigest
    /// The last transaction in the newest checkpoint.
    package let checkpoint: TransactionNumber

    /// The number of objects that are inserted so that indexes split, and the distance between the objects that stay.
    private static let (tagCount, keptTagStride) = (800, 40)

    package init() throws {
        let volume = MemoryVolume(contents: try SampleStore().files)
        let store = try Store.open(volume, durability: nil, environment: SampleStore.environment)
        try Self.addLongValues(store)
        try Self.addTags(store)
        try store.label("a label")
        checkpoint = try store.checkpoint().transaction
        // Compaction packs the pages, even if it keeps the whole log.
        _ = try store.compact(.all)
        try store.write(Author(actor: "fuzz", requestID: "behind")) { _ = try $0.insert("Tag", ["name": .string("behind it")]) }
        digest = store.graph.digest()
        try store.close()
        files = volume.contents
    }

    /// Opens the store of these files for writing, as a program does.
    package static func open(_ files: [String: [UInt8]]) throws -> (store: Store, volume: MemoryVolume) {
        let volume = MemoryVolume(contents: files)
        return (try Store.open(volume, durability: nil, environment: SampleStore.environment), volume)
    }

    private static func addLongValues(_ store: Store) throws {
        try store.write(Author(actor: "fuzz", requestID: "long")) { transaction in
            let long = "\"" + String(repeating: "long ", count: 30_000) + "\""
            let thing = try transaction.insert(
                "Special",
                [
                    "id": .int(100), "extra": .string("y"), "tree": .json(long), "blob": .data([UInt8](repeating: 0xA7, count: 400)),
                    "when": .date(Timestamp(microsecondsSince1970: 1_700_000_000_500_000).date), "wide": .double(0.1),
                ])
            for text in ["a", "b", "a", "b"] {
                try transaction.link(thing, "steps", transaction.insert("Step", ["text": .string(text)]))
            }
            let request = CloneRequest(rootValues: ["id": .int(101), "extra": .string("z"), "title": .string("a copy")])
            _ = try transaction.clone([thing], request)
        }
    }

    private static func addTags(_ store: Store) throws {
        let tags = try store.write { transaction in
            try (0..<tagCount).map { try transaction.insert("Tag", ["name": .string("tag \($0)")]) }
        }.result
        try store.write { transaction in
            try transaction.delete(tags.enumerated().filter { $0.offset % keptTagStride != 0 }.map(\.element))
        }
    }
}

import Cambium
import CambiumGraph
import CambiumLog
import CambiumModel

/// The fuzz target for the frames of a segment (a file of the log). Reading, verifying, opening, continuing and repairing a store with the
/// segment must agree with each other.
///
/// The first byte of an input chooses the way in which the rest becomes a segment.
enum FrameTarget {
    private enum Shape: UInt8 {
        /// The unchanged bytes. The checksums usually do not match, so this shape tests the checksums.
        case plain
        /// The bytes, with the right checksums in the header and the frames.
        case mended
        /// Bodies of frames that follow the frame with the schema. Two bytes before each body state its size. The last body may be shorter.
        case bodies
        /// The bytes, with the right checksums, as one file of a store with sealed segments and separate files of ops. The second byte of
        /// the input chooses the file.
        case file
    }

    private static let sample = Result { try SampleStore() }

    @Sendable static func seeds() throws -> [[UInt8]] {
        let segment = try sample.get().segment
        let bodies = SegmentBytes(segment).bodies.dropFirst()
        let sized = bodies.flatMap { [UInt8($0.count & 255), UInt8($0.count >> 8)] + $0 }
        let cut = try sample.get().cutFiles.filter { $0.key.hasPrefix("log/") }.sorted { $0.key < $1.key }
        let files = cut.enumerated().map { [Shape.file.rawValue, UInt8($0.offset)] + $0.element.value }
        return files + [
            [Shape.plain.rawValue] + segment, [Shape.plain.rawValue] + segment.dropLast(9), [Shape.mended.rawValue] + segment,
            [Shape.mended.rawValue] + segment + [UInt8](repeating: 0, count: 40), [Shape.bodies.rawValue] + sized,
        ]
    }

    @Sendable static func run(_ input: [UInt8]) throws {
        guard let shape = input.first.flatMap({ Shape(rawValue: $0 % 4) }) else { return }
        try use(try contents(shape, Array(input.dropFirst())))
    }

    /// Reads, verifies, opens and repairs a store with these files. Throws a `Finding` if the results do not agree with each other.
    static func use(_ contents: [String: [UInt8]]) throws {
        let digest = try reading(MemoryVolume(contents: contents))
        try verifying(MemoryVolume(contents: contents), digest)
        try opening(MemoryVolume(contents: contents), digest)
        try repairing(MemoryVolume(contents: contents), digest)
    }

    private static func contents(_ shape: Shape, _ bytes: [UInt8]) throws -> [String: [UInt8]] {
        let segment: [UInt8]
        switch shape {
        case .plain: segment = bytes
        case .mended: segment = mended(bytes)
        case .bodies:
            let sample = SegmentBytes(try sample.get().segment)
            segment =
                SegmentBytes(
                    header: Array(sample.bytes.prefix(SegmentBytes.headerByteCount)), bodies: sample.bodies.prefix(1) + bodies(bytes)
                ).bytes
        case .file:
            var contents = try sample.get().cutFiles
            let paths = contents.keys.filter { $0.hasPrefix("log/") }.sorted()
            if let place = bytes.first { contents[paths[Int(place) % paths.count]] = mended(Array(bytes.dropFirst())) }
            return contents
        }
        return [StoreSettings.fileName: SampleStore.settings.encode(), SampleStore.segmentPath: segment]
    }

    private static func mended(_ bytes: [UInt8]) -> [UInt8] {
        var segment = SegmentBytes(bytes)
        segment.mend()
        return segment.bytes
    }

    private static func bodies(_ bytes: [UInt8]) -> [[UInt8]] {
        var bodies: [[UInt8]] = []
        var rest = bytes[...]
        while rest.count > 2 {
            let count = Int(rest[rest.startIndex]) | Int(rest[rest.startIndex + 1]) << 8
            bodies.append(Array(rest.dropFirst(2).prefix(max(count, 1))))
            rest = rest.dropFirst(2 + max(count, 1))
        }
        return bodies
    }

    // MARK: Uses of the store

    /// Returns the digest of the graph, or `nil` if the store is refused.
    private static func reading(_ volume: MemoryVolume) throws -> GraphDigest? {
        do {
            let graph = try ReadOnlyStore(volume).graph
            // The uniqueness of objects was checked when a transaction was written. Replay does not check it again.
            try Finding.check(graph, except: { $0.hasSuffix("is a duplicate.") })
            return graph.digest()
        } catch is CambiumError {
            return nil
        }
    }

    private static func verifying(_ volume: MemoryVolume, _ digest: GraphDigest?) throws {
        let verification: Verification
        do {
            verification = try Verification(volume)
        } catch let error as CambiumError where error.code == .notFound && digest == nil {
            return  // A creation was interrupted before the first transaction.
        }
        if let digest, let other = verification.digest, other != digest { throw Finding("verification finds another graph than a reader") }
        try Finding.check(verification.findings, "verification", except: { !$0.contains("pages: ") })
    }

    private static func opening(_ volume: MemoryVolume, _ digest: GraphDigest?) throws {
        let store: Store
        do {
            store = try Store.open(volume, durability: nil, environment: SampleStore.environment)
        } catch let error as CambiumError {
            if digest != nil { throw Finding("a store that can be read cannot be opened: \(error)") }
            return
        }
        guard store.graph.digest() == digest else { throw Finding("opening a store produces another graph than reading it") }
        let transaction = try store.recordDigest().transaction
        try store.close()
        let again = try ReadOnlyStore(volume)
        guard again.graph.digest() == digest, again.recovery.cutByteCount == 0, again.recovery.lastTransaction == transaction else {
            throw Finding("a store has another graph after a write")
        }
    }

    private static func repairing(_ volume: MemoryVolume, _ digest: GraphDigest?) throws {
        let target = MemoryVolume()
        do {
            _ = try Repair(volume, to: target, environment: SampleStore.environment)
        } catch let error as CambiumError {
            if digest != nil { throw Finding("a store that can be read cannot be repaired: \(error)") }
            return
        }
        let repaired = try ReadOnlyStore(target).graph.digest()
        if let digest, repaired != digest { throw Finding("the repair of a sound store gives another graph") }
    }
}

import CambiumTesting
import Foundation
import Testing

@testable import Cambium
@testable import CambiumGraph
@testable import CambiumLog

/// Stores in Tests/Goldens/format-1 that a program of format 1 wrote. All of them have the same 14 transactions.
@Suite struct FirstFormatTests {
    private static let digest = "2ad153f611347969dbb337c03206f308"
    /// Whether this build can read the stores' pages, which have groups of 128 rows.
    private static let fitsPages = PageImage.fanOutShift == 7

    /// A store and its Merkle root.
    struct Golden: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let root: String
        let isCompacted: Bool

        init(_ name: String, root: String, isCompacted: Bool = false) {
            (testDescription, self.root, self.isCompacted) = (name, root, isCompacted)
        }
    }

    private static let goldens = [
        Golden("checkpointed", root: "e573cfcc2ddd147281e7f73fd2cda2a8c2f4c9dd16135b7827c8d45475588082"),
        Golden("compressed", root: "0fa67fe1fbf4b259c028736546538c9d55614d8ecf2953a06aa847263c426506"),
        Golden("compacted", root: "107da193b344ba4d6c88b8930386c6fb9121d980d18be772dc333ac5544e34b3", isCompacted: true),
    ]

    private func contents(_ name: String) throws -> [String: [UInt8]] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let directory = tests.appending(path: "Goldens/format-1/" + name).path
        var contents: [String: [UInt8]] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: directory) {
            if let data = FileManager.default.contents(atPath: directory + "/" + path) { contents[path] = Array(data) }
        }
        return contents
    }

    private func format(_ contents: [String: [UInt8]]) throws -> UInt16 { try StoreSettings.read(MemoryVolume(contents: contents)).format }

    /// Expects that the store has kept its contents, in either format.
    private func check(_ graph: Graph) {
        #expect(graph.digest().description == Self.digest && graph.labels.mapValues(\.rawValue) == ["early": 7])
        #expect(graph.requests.map(\.name) == ["r1"] && graph.request("r1")?.transaction.rawValue == 11)
    }

    private func open(_ volume: any Volume) throws -> Store {
        try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: 3))
    }

    @Test(.enabled(if: fitsPages), arguments: goldens)
    private func `segments of format 1 are merged with segments of format 2`(golden: Golden) throws {
        let volume = MemoryVolume(contents: try contents(golden.testDescription))
        let before = try Merging.records(volume)
        let count = try LogDirectory.segments(volume).count
        for seed in 0..<3 {
            let store = try Merging.open(volume, UInt64(seed))
            #expect(store.sealingFailure == nil)
            check(store.graph)
            store.abandon()
            try Merging.tear(volume)
        }
        // Two of the openings found a torn tail and began a segment.
        let segments = try LogDirectory.segments(volume)
        let indexes = try segments.map { try SegmentReader(volume, path: LogFileName.path($0, .segment)).index }
        #expect(segments.count < count + 2 && indexes.contains { $0?.joints?.isEmpty == false }, "\(count) segments")
        #expect(try Merging.areSame(Merging.records(volume), before))
        let verification = try Verification(volume)
        #expect(verification.isSound && verification.root == golden.root, "\(verification.findings)")
        for number in try CheckpointRecord.list(volume) where !golden.isCompacted {
            #expect(try ReadOnlyStore(volume, point: .transaction(number)).recovery.checkpoint == number)
        }
    }

    @Test(.enabled(if: fitsPages), arguments: goldens)
    private func `a store of format 1 is readable without conversion`(golden: Golden) throws {
        let volume = MemoryVolume(contents: try contents(golden.testDescription))
        let reader = try ReadOnlyStore(volume)
        check(reader.graph)
        #expect(reader.recovery.notes == [] && reader.recovery.checkpoint.rawValue == 11)
        let verification = try Verification(volume)
        #expect(verification.findings == [] && verification.root == golden.root)
        check(try StoreFollower(volume).graph)
        #expect(try format(volume.contents) == 1)
    }

    @Test(.enabled(if: fitsPages), arguments: goldens)
    private func `the first writer converts a store of format 1 to format 2`(golden: Golden) throws {
        let volume = MemoryVolume(contents: try contents(golden.testDescription))
        let store = try open(volume)
        check(store.graph)
        #expect(try format(volume.contents) == 2 && store.recovery.notes == [])
        #expect(throws: CambiumError.self) { try store.write(Author(requestID: "r1")) { try $0.insert("Memo") } }
        try store.write(Author(requestID: "r2")) { try $0.insert("Memo") }
        let number = try store.checkpoint().transaction
        let root = try #require(try PageFile.root(volume, store: StoreSettings.read(volume).store, number))
        #expect(root.record.firstFormat == nil)
        #expect(store.pageFindings == [])
        try store.compact(.checkpoints(1))
        try store.close()
        let again = try Store.reopened(volume)
        #expect(again.graph.requests.map(\.name) == ["r1", "r2"] && again.graph.labels == store.graph.labels)
        #expect(again.recovery.notes == [] && again.graph.digest() == store.graph.digest())
        #expect(try Verification(volume).findings == [])
    }

    @Test(.enabled(if: fitsPages)) func `imports find the objects of a compacted store of format 1 by their texts`() throws {
        let volume = MemoryVolume(contents: try contents("compacted"))
        let store = try open(volume)
        let long = String(repeating: "long ", count: 20)
        let rows = #"[{"name": "red"}, {"name": ""}, {"name": "a tag of 17 bytes"}, {"name": "\#(long)"}]"#
        let first = try store.importing("Tag", rows).counts
        #expect(first.inserted == 3 && first.unchanged == 1)
        let number = try store.checkpoint().transaction
        try store.close()
        let again = try Store.reopened(volume)
        #expect(again.recovery.checkpoint == number && again.recovery.notes == [])
        // The indexes still have the hashes of the build that wrote the store.
        #expect(again.graph.hashNumbers.texts == .sipHash)
        #expect(try again.importing("Tag", rows).counts.unchanged == 4)
    }

    @Test(.enabled(if: fitsPages)) func `a writer of a store of format 1 leaves HEAD unchanged if the directory was replaced`() throws {
        let volume = DisplacedVolume(contents: try contents("checkpointed"))
        let store = try open(volume)
        let head = volume.memory.contents[Head.fileName]
        volume.displace(.atOnce)
        let failure = code { _ = try store.write { try $0.insert("Memo") } }
        #expect(failure == .ioFailure && head != nil && volume.memory.contents[Head.fileName] == head)
        store.abandon()
    }

    @Test(.enabled(if: LongTests.areWanted)) func `a crash at any operation of the conversion to format 2 loses nothing`() throws {
        let contents = try contents("checkpointed")
        func run(_ volume: FaultyVolume) throws {
            let store = try open(volume)
            try store.checkpoint()
            try store.close()
        }
        let whole = FaultyVolume(contents: contents)
        try run(whole)
        for operation in 0..<whole.operationCount {
            let volume = FaultyVolume(contents: contents)
            volume.crash(at: operation)
            _ = try? run(volume)
            let image = MemoryVolume(contents: volume.image(seed: UInt64(operation)))
            check(try ReadOnlyStore(image).graph)
            check(try open(image).graph)
            #expect(try Verification(image).digest?.description == Self.digest)
        }
    }

    @Test(.enabled(if: fitsPages)) func `an archive of format 1 completes a compacted store`() throws {
        let store = MemoryVolume(contents: try contents("compacted"))
        let whole = try ArchivedVolume(store, archive: MemoryVolume(contents: try contents("archive")))
        let copy = MemoryVolume()
        _ = try Backup(LogReader(whole), to: copy)
        check(try ReadOnlyStore(copy).graph)
        #expect(try ReadOnlyStore(copy, point: .label("early")).graph.transaction.rawValue == 7)
        #expect(try format(copy.contents) == 2 && Verification(copy).findings == [])
    }
}

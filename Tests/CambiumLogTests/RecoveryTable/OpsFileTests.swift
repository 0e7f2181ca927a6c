import Cambium
import CambiumModel
import TestFixtures
import Testing

@testable import CambiumLog

@Suite struct OpsFileTests {
    private static func path(_ number: UInt64) -> String { LogFileName.path(TransactionNumber(rawValue: number), .ops) }

    private func write(_ store: Store, _ note: Int64) throws {
        try store.write { try $0.insert("Note", ["id": .int(note), "title": .string(String(repeating: "a", count: 200))]) }
    }

    /// Makes the files of two stores whose transactions 1 to 3 have files of ops. The first transaction is identical. The second one is the
    /// same in another attempt, and the third one differs.
    private func attempts() throws -> (files: [String: [UInt8]], others: [String: [UInt8]]) {
        let volume = MemoryVolume()
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: .tiny)
        try store.close()
        let other = MemoryVolume(contents: volume.contents)
        for (volume, seed) in [(volume, 11), (other, 22)] as [(MemoryVolume, UInt64)] {
            let store = try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: seed), tuning: .tiny)
            try write(store, 1)
            try write(store, volume === other ? 3 : 2)
            try store.close()
        }
        return (volume.contents, other.contents)
    }

    private func expectRefusal(_ what: String, _ files: [String: [UInt8]], _ change: (inout [String: [UInt8]]) -> Void) throws {
        var files = files
        let before = files
        change(&files)
        #expect(files != before, "\(what): nothing was changed")
        let volume = MemoryVolume(contents: files)
        #expect(code { _ = try Store.open(volume, durability: nil) } == .corrupted, "\(what)")
        #expect(volume.contents == files, "\(what)")
        let verification = try Verification(volume)
        #expect(!verification.isSound && verification.transactionCount < 3, "\(what)")
    }

    @Test func `a file of ops in the place of another one is refused`() throws {
        let (files, others) = try attempts()
        let paths = (1...3).map { Self.path($0) }
        for path in paths { #expect(files[path] != nil && others[path] != nil) }
        #expect(files[paths[1]] != others[paths[1]] && files[paths[1]]?.count == others[paths[1]]?.count)
        try expectRefusal("one is missing", files) { $0[paths[1]] = nil }
        try expectRefusal("two are swapped", files) { ($0[paths[1]], $0[paths[2]]) = ($0[paths[2]], $0[paths[1]]) }
        try expectRefusal("one is a copy of the next", files) { $0[paths[1]] = $0[paths[2]] }
        try expectRefusal("one of an earlier attempt with the same ops", files) { $0[paths[1]] = others[paths[1]] }
        try expectRefusal("one of another history", files) { $0[paths[2]] = others[paths[2]] }
        try expectRefusal("a segment is in its place", files) { $0[paths[1]] = $0["log/00000000000000000001.log"] }
        let header = Format.Segment.headerByteCount
        try expectRefusal("nothing but its header", files) { $0[paths[1]] = Array($0[paths[1]]?.prefix(header) ?? []) }
        try expectRefusal("the other's frames after its header", files) {
            $0[paths[1]] = Array(($0[paths[1]] ?? []).prefix(header)) + Array((others[paths[1]] ?? []).dropFirst(header))
        }
    }

    @Test func `an unnamed file of ops is removed only if its number follows the last transaction`() throws {
        var (files, _) = try attempts()
        files[Self.path(4)] = files[Self.path(3)]
        let volume = MemoryVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment())
        try write(store, 1)
        try store.close()
        // The transactions of this store are small, so no frame names one of these files.
        for number in [2, 3] as [UInt64] { try volume.open(Self.path(number), .create).write([1], at: 0) }
        try Store.open(volume, durability: nil).close()
        #expect(volume.contents[Self.path(2)] != nil && volume.contents[Self.path(3)] == nil)
        let other = MemoryVolume(contents: files)
        #expect(try Verification(other).isSound)
        try Store.open(other, durability: nil).close()
        #expect(other.contents[Self.path(4)] == nil && other.contents[Self.path(3)] != nil)
        #expect(try Store.reopened(other).graph.objectCount == 2)
    }
}

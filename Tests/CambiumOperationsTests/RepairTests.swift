import Cambium
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog

@Suite struct RepairTests {
    private static let segment = "log/00000000000000000001.log"

    /// Returns the files of a closed store, the exports after each transaction and the Merkle root.
    private func files() throws -> (files: [String: [UInt8]], exports: [String], root: String) {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        var exports = ["", store.graph.export]
        for number in 0..<6 {
            try store.write(Author(actor: "actor \(number % 2)")) { try $0.insert("Note", ["id": .int(Int64(number))]) }
            exports.append(store.graph.export)
        }
        try store.close()
        return (volume.contents, exports, try Verification(volume).root)
    }

    private func repaired(_ files: [String: [UInt8]]) throws -> (repair: Repair, target: MemoryVolume) {
        let old = MemoryVolume(contents: files)
        let target = MemoryVolume()
        let repair = try Repair(old, to: target, environment: fixedEnvironment())
        #expect(old.contents == files)
        return (repair, target)
    }

    @Test func `a sound store is copied whole, and its tree has the same root`() throws {
        let (files, exports, root) = try files()
        let (repair, target) = try repaired(files)
        #expect(repair.findings.isEmpty && repair.transactionCount == 7 && repair.root == root && repair.objectCount == 6)
        #expect(try Store.reopened(target).graph.export == exports.last)
        let verification = try Verification(target)
        #expect(verification.isSound && verification.findings.isEmpty && verification.root == root)
    }

    @Test func `every transaction before a corrupt byte is saved, wherever the byte is`() throws {
        let (files, exports, _) = try files()
        let bytes = try #require(files[Self.segment])
        var counts: Set<Int> = []
        for offset in Format.Segment.headerByteCount..<bytes.count {
            var files = files
            files[Self.segment]?[offset] ^= 0x40
            guard offset > 700 || offset % 50 == 0 else { continue }
            do {
                let (repair, target) = try repaired(files)
                #expect(!repair.findings.isEmpty && repair.transactionCount < 7)
                #expect(try Store.reopened(target).graph.export == exports[repair.transactionCount], "byte \(offset)")
                #expect(try Verification(target).isSound)
                counts.insert(repair.transactionCount)
            } catch let error as CambiumError {
                // Nothing verifies, so the repair has nothing to save.
                #expect(error.code == .corrupted && offset < 700, "byte \(offset): \(error)")
            }
        }
        #expect(counts.count >= 5)
    }

    @Test func `unreadable settings are restored from the segments`() throws {
        var (files, exports, root) = try files()
        files["store.json"]?[20] ^= 1
        #expect(code { _ = try LogReader(MemoryVolume(contents: files)) } == .corrupted)
        let (repair, target) = try repaired(files)
        #expect(repair.findings.count == 1 && repair.root == root)
        #expect(try Store.reopened(target).graph.export == exports.last)
        files[Self.segment]?[0] ^= 1
        let empty = MemoryVolume()
        #expect(code { _ = try Repair(MemoryVolume(contents: files), to: empty, environment: fixedEnvironment()) } == .corrupted)
        #expect(empty.contents.isEmpty)
        // The files of a failed repair are not a store, and they do not hinder the next repair.
        let failing = MemoryVolume()
        var torn = files
        torn[Self.segment]?[Format.Segment.headerByteCount + 8] ^= 1
        torn["store.json"]?[20] ^= 1
        torn[Self.segment]?[0] ^= 1
        #expect(code { _ = try Repair(MemoryVolume(contents: torn), to: failing, environment: fixedEnvironment()) } == .corrupted)
        #expect(try !failing.exists("store.json"))
        torn[Self.segment] = try self.files().files[Self.segment]
        torn["store.json"] = try self.files().files["store.json"]
        #expect(try Repair(MemoryVolume(contents: torn), to: failing, environment: fixedEnvironment()).findings.isEmpty)
    }

    @Test(arguments: [("2", "6"), ("2", "0"), ("2", ""), ("\"format\":2", "\"format\":22")])
    func `a corrupt format number in the settings is corruption, and a repair ignores it`(old: String, new: String) throws {
        var (files, exports, root) = try files()
        let settings = String(decoding: files["store.json"] ?? [], as: UTF8.self)
        files["store.json"] = Array(settings.replacing(old, with: new, maxReplacements: 1).utf8)
        #expect(code { _ = try LogReader(MemoryVolume(contents: files)) } == .corrupted)
        let (repair, target) = try repaired(files)
        #expect(repair.findings.count == 1 && repair.root == root)
        #expect(try Store.reopened(target).graph.export == exports.last)
    }

    @Test func `a repair that can save nothing does not advise a repair, and lists the corrupt parts`() throws {
        var (files, _, _) = try files()
        files[Self.segment]?[Format.Segment.headerByteCount + 60] ^= 1
        do {
            _ = try repaired(files)
            Issue.record("the first transaction is corrupt, and there is no checkpoint")
        } catch let error as CambiumError {
            #expect(error.code == .corrupted && !error.message.contains("'cambium repair'"))
            #expect(error.details.contains { $0.contains(Self.segment) })
        }
    }
}

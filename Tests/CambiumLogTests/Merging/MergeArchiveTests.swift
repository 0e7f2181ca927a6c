import Cambium
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

/// Archives that have the same transactions as the log, but in segments that begin and end elsewhere.
@Suite struct MergeArchiveTests {
    private func archive(_ volume: any Volume, _ archive: any Volume, upTo last: UInt64) throws {
        let segments = try LogDirectory.segments(volume, upTo: TransactionNumber(rawValue: last))
        _ = try SegmentArchive(adding: archive, of: StoreSettings.read(volume).store).add(segments, from: volume)
    }

    @Test func `segments archived before a merge still match and are not archived again`() throws {
        let (volume, archive) = (MemoryVolume(), MemoryVolume())
        let store = try Merging.made(volume)
        let root = try Verification(volume).root
        // This compaction was interrupted before it retired anything.
        try self.archive(volume, archive, upTo: 18)
        let before = archive.contents
        #expect(before.keys.filter { $0.hasSuffix(".log") }.count == 5)
        store.abandon()
        let again = try Merging.open(volume)
        #expect(try Merging.kinds(volume) == [1: .sealed, 19: .open])
        let compaction = try again.compact(.since(.latest), in: archive)
        #expect(compaction.missingFromArchive == [] && compaction.archivedSegmentCount == 1)
        #expect(before.allSatisfy { archive.contents[$0.key] == $0.value })
        try again.close()
        let whole = try Archiving.restored(volume, archive)
        let verification = try Verification(whole)
        #expect(try verification.findings == [] && verification.root == root && Verification(volume, archive: archive).findings == [])
        #expect(try Archiving.ops(whole).count == 19 && Archiving.graph(whole, at: 7).objectCount == 6)
    }

    @Test func `segments missing or corrupt in the archive are archived again in merged form`() throws {
        let volume = MemoryVolume()
        let store = try Merging.made(volume)
        let (root, archived) = (try Verification(volume).root, MemoryVolume())
        try archive(volume, archived, upTo: 18)
        store.abandon()
        try Merging.open(volume).close()
        let paths = archived.contents.keys.filter({ $0.hasSuffix(".log") }).sorted()
        #expect(paths.count > 1)
        for path in paths {
            for isMissing in [true, false] {
                var contents = archived.contents
                if isMissing { contents[path] = nil } else { contents[path]?[130] ^= 1 }
                let (disk, shelf) = (MemoryVolume(contents: volume.contents), MemoryVolume(contents: contents))
                let store = try Merging.open(disk)
                #expect(try store.compact(.since(.latest), in: shelf).missingFromArchive == [], "\(path)")
                try store.close()
                let verification = try Verification(Archiving.restored(disk, shelf))
                #expect(verification.findings == [] && verification.root == root, "\(path): \(verification.findings)")
            }
        }
    }

    @Test func `retired segments are merged, and the archive keeps the original segments`() throws {
        let (volume, archive) = (MemoryVolume(), MemoryVolume())
        var store = try Merging.made(volume, tuning: Merging.tuning)
        var (countMax, count) = (0, 0)
        for round in 0..<12 {
            for number in 0..<3 { try Merging.add(store, 400 + round * 10 + number) }
            let compaction = try store.compact(.since(.latest), in: archive)
            #expect(compaction.missingFromArchive == [] && store.sealingFailure == nil, "round \(round)")
            if round % 3 == 2 { store = try Merging.takeOver(store, volume, 800 + round) }
            let retired = try Merging.kinds(volume).values.filter { $0 == .retired }.count
            (countMax, count) = (max(countMax, retired), archive.contents.keys.filter { $0.hasSuffix(".log") }.count)
            let verification = try Verification(volume, archive: archive)
            #expect(verification.findings.filter { !$0.contains("HEAD") } == [], "round \(round): \(verification.findings)")
        }
        #expect(countMax <= 5 && count >= 12, "\(countMax) retired segments, \(count) archived")
        let export = store.graph.export
        try store.close()
        let whole = try Archiving.restored(volume, archive)
        #expect(try Verification(whole).root == Verification(volume).root && Verification(whole).findings == [])
        #expect(try ReadOnlyStore(whole).graph.export == export && Archiving.graph(whole, at: 5).objectCount == 4)
        let again = try Merging.open(whole, 9)
        #expect(try again.sealingFailure == nil && LogDirectory.segments(whole).count < 8 && again.graph.export == export)
        #expect(try Verification(whole).findings == [])
    }

    @Test func `a segment that is missing from the archive is reported, even if the log has merged it`() throws {
        let (volume, archive) = (MemoryVolume(), MemoryVolume())
        let store = try Merging.made(volume, tuning: Merging.tuning)
        for number in 500..<504 {
            try Merging.add(store, number)
            try store.compact(.since(.latest), in: archive)
        }
        let names = archive.contents.keys.filter { $0.hasSuffix(".log") }.sorted()
        #expect(try names.count == 9 && Merging.kinds(volume).values.filter { $0 == .retired }.count < 4)
        for (place, name) in names.enumerated() {
            var contents = archive.contents
            contents[name] = nil
            let lacking = MemoryVolume(contents: contents)
            let segment = try #require(LogFileName.parse(String(name.dropFirst(4)))).number
            let found = try SegmentArchive(reading: lacking, of: StoreSettings.read(volume).store).missing(of: volume)
            #expect(found.count == 1 && found.first?.lowerBound == segment, "\(place): \(found)")
            let refusal = error { _ = try Archiving.restored(volume, lacking) }
            #expect(refusal?.code == .notFound && refusal?.place?.file?.contains(name) == true, "\(place): \(String(describing: refusal))")
        }
    }

    @Test func `an archive that extends beyond the checkpoint is refused, but fits a later checkpoint`() throws {
        let (volume, archive) = (MemoryVolume(), MemoryVolume())
        let store = try Merging.made(volume)
        try self.archive(volume, archive, upTo: 18)
        let before = archive.contents
        store.abandon()
        let again = try Merging.open(volume)
        let early = error { try again.compact(.since(.transaction(TransactionNumber(rawValue: 7))), in: archive) }
        #expect(early?.code == .conflict && archive.contents == before, "\(String(describing: early))")
        #expect(try LogReader(volume).retiredEnd() == .none && Verification(volume).isSound)
        #expect(try again.compact(.since(.latest), in: archive).missingFromArchive == [])
        try again.close()
        #expect(try Verification(Archiving.restored(volume, archive)).findings == [])
    }

    @Test func `an archive of a copy that diverged is refused, wherever the segments of the two begin`() throws {
        let (volume, archive) = (MemoryVolume(), MemoryVolume())
        let store = try Merging.made(volume)
        store.abandon()
        let copy = MemoryVolume(contents: volume.contents)
        let other = try Merging.open(copy, 6)
        try Merging.add(other, 700)
        try other.compact(.since(.latest), in: archive)
        let again = try Merging.open(volume)
        try Merging.add(again, 701)
        let before = archive.contents
        let refusal = error { try again.compact(.since(.latest), in: archive) }
        #expect(refusal?.code == .conflict, "\(String(describing: refusal))")
        #expect(refusal?.message.contains("Transaction 20 of the archive differs") == true, "\(String(describing: refusal))")
        #expect(try archive.contents == before && LogReader(volume).retiredEnd() == .none)
    }

    @Test func `a reader of a store with its archive gets all data or an error while the store is compacted`() throws {
        for listing in 0..<4 {
            let (volume, archive) = (WatchedVolume(), MemoryVolume())
            let store = try Merging.made(volume.memory, tuning: Merging.tuning)
            try store.compact(.since(.latest), in: archive)
            for number in 600..<604 { try Merging.add(store, number) }
            let whole = try ArchivedVolume(volume, archive: archive)
            volume.beforeListing.withLock {
                $0 = Array(repeating: {}, count: listing) + [{ _ = try store.compact(.since(.latest), in: archive) }]
            }
            let found = error { _ = try Backup(whole, to: MemoryVolume()) }
            #expect(found == nil || found?.code == .ioFailure, "listing \(listing): \(String(describing: found))")
            volume.beforeListing.withLock { $0 = [] }
            #expect(try Verification(volume, archive: archive).findings == [], "listing \(listing)")
        }
    }
}

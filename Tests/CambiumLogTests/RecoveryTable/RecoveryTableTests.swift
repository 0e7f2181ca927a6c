import Cambium
import CambiumModel
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog

@Suite struct RecoveryTableTests {
    @Test(.enabled(if: LongTests.areWanted)) func `the recovery table covers every case, and each opening follows its row`() {
        var counts: [RecoveryRow: Int] = [:]
        for found in RecoveryCase.all {
            counts[found.row, default: 0] += 1
            do { try check(found) } catch { Issue.record("\(found): \(error)") }
        }
        for row in RecoveryRow.allCases { #expect(counts[row, default: 0] > 0, "no case is in the row \(row)") }
        #expect(counts.values.reduce(0, +) > 1000)
    }

    private func check(_ found: RecoveryCase) throws {
        let files = found.files
        let verdict = try readVerdict(found, files)
        switch found.row.outcome {
        case .refused(let code): try checkRefusal(found, files, code)
        case .kept: #expect(verdict == .clean, "\(found)")
        case .cut:
            let (path, offset) = (found.image.path, found.image.bytes.count)
            let byteCount = (files[path]?.count ?? 0) - offset
            #expect(verdict == .tornTail(file: path, offset: offset, byteCount: byteCount), "\(found)")
        case .removed: #expect(verdict == .tornCreation(file: found.image.path), "\(found)")
        }
        if case .refused = found.row.outcome { return }
        if found.earlier == nil, found.image.lastTransaction == 0 { checkAbsence(found, files) } else { try checkWriting(found, files) }
    }

    /// Expects that a log without a transaction is not taken for a store, however it ends.
    private func checkAbsence(_ found: RecoveryCase, _ files: [String: [UInt8]]) {
        let volume = MemoryVolume(contents: files)
        #expect(code { _ = try Store.open(volume, durability: nil) } == .notFound, "\(found)")
        #expect(code { _ = try Verification(volume) } == .notFound, "\(found)")
        #expect(volume.contents == files, "\(found): a refusal changed something")
    }

    /// Returns the verdict of a reader, or `nil` if it refuses the log. A reader sees all frames that verify, and changes nothing.
    private func readVerdict(_ found: RecoveryCase, _ files: [String: [UInt8]]) throws -> LogReader.End.Verdict? {
        let volume = MemoryVolume(contents: files)
        var numbers: [UInt64] = []
        let end = try? LogReader(volume).scan { numbers.append($0.number.rawValue) }  // `checkRefusal` checks the error.
        #expect(volume.contents == files, "\(found): reading changed something")
        let isWhole = found.row.outcome == .kept || found.row.outcome == .cut
        let last = isWhole && found.last != .missing ? found.image.lastTransaction : found.earlier?.lastTransaction ?? 0
        if case .refused = found.row.outcome {
            #expect(end == nil && numbers == (0..<UInt64(numbers.count)).map { $0 + 1 }, "\(found)")
        } else {
            #expect(numbers == (0..<last).map { $0 + 1 }, "\(found)")
        }
        return end?.verdict
    }

    private func checkRefusal(_ found: RecoveryCase, _ files: [String: [UInt8]], _ code: CambiumError.Code) throws {
        let volume = MemoryVolume(contents: files)
        let refusal = #expect(throws: CambiumError.self, "\(found)") { _ = try Store.open(volume, durability: nil) }
        #expect(refusal?.code == code, "\(found): \(refusal?.description ?? "")")
        #expect(refusal?.place?.file?.contains("log") == true, "\(found) is refused without a place")
        #expect(volume.contents == files, "\(found): a refusal changed something")
        #expect(code == .corrupted ? try !Verification(volume).isSound : true, "\(found)")
        // The lock is free again, so a repair can begin.
        try volume.lock("LOCK").unlock()
    }

    /// Opens the store for writing, and compares the resulting files with the table.
    private func checkWriting(_ found: RecoveryCase, _ files: [String: [UInt8]]) throws {
        let volume = MemoryVolume(contents: files)
        var tuning = LogTuning.standard
        // The segment before the last one is not changed.
        tuning.sealsSegments = false
        let store = try Store.open(volume, durability: .synced, environment: fixedEnvironment(seed: 5), tuning: tuning)
        let isReported = found.row.outcome != .kept || found.row == .olderHead || found.isHeadFlawed
        #expect(store.recovery.notes.isEmpty != isReported, "\(found): \(store.recovery.notes)")
        expectFiles(found, volume.contents, before: files)
        let opened = MemoryVolume(contents: volume.contents)
        #expect(try LogReader(opened).scan { _ in }.verdict == .clean && LogReader(opened).flaws.isEmpty, "\(found)")
        // The store accepts new transactions.
        let number = try store.recordDigest().transaction
        #expect(number == store.recovery.lastTransaction.next, "\(found)")
        try store.close()
        let verification = try Verification(volume)
        #expect(verification.isSound && verification.findings.isEmpty, "\(found): \(verification.findings)")
        #expect(verification.transactionCount == number.map { Int($0.rawValue) }, "\(found)")
        let again = try Store.reopened(volume)
        #expect(again.recovery.notes.isEmpty && again.graph.digest() == store.graph.digest(), "\(found)")
    }

    private func expectFiles(_ found: RecoveryCase, _ files: [String: [UInt8]], before: [String: [UInt8]]) {
        if let earlier = found.earlier { #expect(files[earlier.path] == before[earlier.path], "\(found)") }
        var expected = Set(before.keys).union(["HEAD"])
        let next = LogFileName.path(TransactionNumber(rawValue: found.image.lastTransaction + 1), .segment)
        switch found.row.outcome {
        case .cut:
            expected.insert(next)
            #expect(files[next]?.count == 96 && files[next] != found.image.bytes, "\(found): no segment continues the log")
            if found.frameCount > 0 { #expect(files[found.image.path] == found.image.bytes, "\(found): the tail is not cut") }
        case .removed where found.before == .sealed:
            // A sealed segment receives no frames, so the store makes the unfinished segment again.
            #expect(files[found.image.path]?.count == 96 && files[found.image.path] != before[found.image.path], "\(found)")
        case .removed: expected.remove(found.image.path)
        default: if found.last != .missing { #expect(files[found.image.path] == found.image.bytes, "\(found)") }
        }
        #expect(Set(files.keys) == expected, "\(found)")
    }
}

extension RecoveryCase {
    /// Whether HEAD is missing or one of its slots is invalid. An opening reports and repairs this.
    fileprivate var isHeadFlawed: Bool { [.missing, .empty, .bothDamaged, .otherStore, .newerDamaged].contains(headState) }
}

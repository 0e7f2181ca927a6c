import Cambium
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumOperations
@testable import CambiumStore

/// The first corrupt transaction that `verify` names: for every flipped byte of a small log, and for logs of other histories, which verify
/// by themselves.
@Suite struct VerificationTests {
    /// A change of a history of 13 transactions, in which transaction `place + 2` inserts note `place`.
    enum Forgery: CaseIterable {
        case actor, value, drop, swap, substitute
    }

    private static let noteCount = 12

    /// Makes a history with checkpoints after the fourth and the eleventh note, and closes the store.
    private func made(_ forgery: Forgery? = nil, at place: Int = 0, compacted: Bool = false) throws -> MemoryVolume {
        var tuning = LogTuning.tiny
        (tuning.segmentByteCount, tuning.largeByteCount, tuning.sealsSegments) = (1 << 20, 500, false)
        let volume = MemoryVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning)
        var numbers = Array(0..<Self.noteCount)
        switch forgery {
        case .drop: numbers.remove(at: place)
        case .swap: numbers.swapAt(place, place + 1)
        case .substitute: numbers[place] = 77
        case .actor, .value, nil: break
        }
        for (index, number) in numbers.enumerated() {
            let isForged = index == place
            let author = Author(actor: isForged && forgery == .actor ? "olga" : "anna")
            let title = isForged && forgery == .value ? "forged" : "sound"
            try store.write(author) { try $0.insert("Note", ["id": .int(Int64(number)), "title": .string(title)]) }
            if index == 3 || index == 10 { try store.checkpoint() }
        }
        if compacted { try store.compact(.since(.transaction(TransactionNumber(rawValue: 5)))) }
        try store.close()
        return volume
    }

    @Test func `a flipped byte after retired transactions is found, and verify names a transaction of its file`() throws {
        let volume = try made(compacted: true)
        #expect(try Verification(volume).isSound)
        var firsts: [String: TransactionNumber] = [:]
        _ = try LogReader(volume).scan { firsts[$0.file] = min($0.number, firsts[$0.file] ?? $0.number) }
        #expect(firsts.count > 1)
        for (path, first) in firsts {
            let bytes = try volume.bytes(of: path)
            for place in stride(from: 0, to: bytes.count, by: 7) {
                var changed = bytes
                changed[place] ^= 1 << UInt8(place % 8)
                try volume.replace(path, changed)
                let found = try Verification(volume).firstCorrupt
                #expect(found.map { $0.lowerBound >= first } ?? false, "\(path) byte \(place): \(found?.description ?? "-")")
            }
            try volume.replace(path, bytes)
        }
    }

    @Test func `every flipped byte of the log is found, and verify names the first transaction that it affects`() throws {
        let volume = try made()
        #expect(try Verification(volume).firstCorrupt == nil && Verification(volume).isSound)
        var records: [LogRecord] = []
        _ = try LogReader(volume).scan { records.append($0) }
        let path = try #require(records.first?.file)
        let bytes = try volume.bytes(of: path)
        for place in stride(from: 0, to: bytes.count, by: 3) {
            var changed = bytes
            changed[place] ^= 1 << UInt8(place % 8)
            try volume.replace(path, changed)
            let verification = try Verification(volume)
            let soundCount = records.count { $0.frameOffset + $0.byteCount - $0.fileByteCount <= place }
            let expected = TransactionNumber(rawValue: UInt64(soundCount + 1))
            let first = verification.firstCorrupt
            #expect(!verification.isSound && first == expected...expected, "byte \(place), \(expected): \(verification)")
        }
    }

    @Test(arguments: Forgery.allCases)
    func `a log of another history is found, and verify names a range with the first transaction that differs`(forgery: Forgery) throws {
        let own = try made().contents
        for place in 0..<(Self.noteCount - 1) {
            let other = try made(forgery, at: place).contents
            let forged = own.merging(other.filter { $0.key.hasPrefix("log/") }) { $1 }
            let verification = try Verification(MemoryVolume(contents: forged))
            let range = try #require(verification.firstCorrupt, "\(place): \(verification.findings)")
            #expect(!verification.isSound && range.contains(TransactionNumber(rawValue: UInt64(place + 2))), "\(place): \(range)")
            // The checkpoints of the fifth and the twelfth transaction have complete subtrees of 4 and 1, and of 8 and 4 transactions.
            #expect(range.upperBound.rawValue - range.lowerBound.rawValue < 8, "\(place): \(range)")
        }
    }

    @Test func `two threads find the same corruption of checkpoints as one`() throws {
        let volume = try made()
        let numbers = try CheckpointRecord.list(volume)
        let graphs = try numbers.map { ($0, ExpectedGraph(try EarlierGraphs(volume).graph(at: .transaction($0)))) }
        var count = 0
        for path in volume.contents.keys.sorted() where path.hasPrefix("roots/") || path.hasPrefix("pages-") {
            for place in stride(from: 5, to: try volume.bytes(of: path).count, by: 1021) {
                var files = volume.contents
                files[path]?[place] ^= 4
                let check = CheckpointCheck(
                    reader: try LogReader(MemoryVolume(contents: files)), graphs: Dictionary(uniqueKeysWithValues: graphs),
                    last: numbers[0], times: [:], retiredEnd: .none, oldest: nil)
                let findings = try check.findings(of: numbers, threadCount: 1)
                #expect(try check.findings(of: numbers, threadCount: 2) == findings, "\(path) \(place)")
                count += findings.count
            }
        }
        #expect(count > numbers.count)
    }

    @Test func `each missing end of a log is found, and verify names the first missing transaction`() throws {
        let volume = try made()
        var records: [LogRecord] = []
        _ = try LogReader(volume).scan { records.append($0) }
        let path = try #require(records.first?.file)
        let bytes = try volume.bytes(of: path)
        for record in records.dropFirst() {
            try volume.replace(path, Array(bytes[..<record.frameOffset]))
            let verification = try Verification(volume)
            #expect(!verification.isSound && verification.firstCorrupt == record.number...record.number, "\(verification.findings)")
        }
    }
}

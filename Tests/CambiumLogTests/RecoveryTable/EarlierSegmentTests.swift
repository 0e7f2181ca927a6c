import Cambium
import CambiumModel
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog

@Suite struct EarlierSegmentTests {
    /// Three segments with two transactions each.
    private static let images: [SegmentImage] = {
        var images: [SegmentImage] = []
        for first in [1, 3, 5] as [UInt64] {
            var image = SegmentImage(first: first, after: images.last?.lastChecksum ?? 0)
            for _ in 0..<2 { image.append() }
            images.append(image)
        }
        return images
    }()

    private enum HeadState: CaseIterable { case none, first, exact }

    private func files(_ state: HeadState = .none) -> [String: [UInt8]] {
        let settings = StoreSettings(store: SegmentImage.store, creationTime: SegmentImage.time, durability: .synced)
        var files = [StoreSettings.fileName: settings.encode()]
        for image in Self.images { files[image.path] = image.bytes }
        guard state != .none else { return files }
        let image = Self.images[state == .first ? 0 : 2]
        let head = Head(
            sequence: 0, segment: image.header.firstTransaction, position: UInt64(image.bytes.count),
            lastTransaction: TransactionNumber(rawValue: image.lastTransaction), isClosed: state == .exact)
        var newer = head
        newer.sequence = 1
        files[Head.fileName] = head.encode(store: SegmentImage.store) + newer.encode(store: SegmentImage.store)
        return files
    }

    /// Changes the files of a log in every state of HEAD. Expects that opening refuses the log and leaves it unchanged.
    private func expectRefusal(
        _ what: String, _ code: CambiumError.Code = .corrupted, file path: String? = nil, _ change: (inout [String: [UInt8]]) -> Void
    ) throws {
        for state in HeadState.allCases {
            var files = files(state)
            change(&files)
            #expect(files != self.files(state), "\(what): nothing was changed")
            let volume = MemoryVolume(contents: files)
            let refusal = #expect(throws: CambiumError.self, "\(what), HEAD \(state)") { _ = try Store.open(volume, durability: nil) }
            #expect(refusal?.code == code, "\(what), HEAD \(state): \(refusal?.description ?? "")")
            if let path { #expect(refusal?.place?.file?.contains(path) == true, "\(what), HEAD \(state): \(refusal?.description ?? "")") }
            #expect(volume.contents == files, "\(what), HEAD \(state)")
            #expect(code == .unsupportedFormat ? true : (try? Verification(volume).isSound) == false, "\(what), HEAD \(state)")
        }
    }

    private func expectSound(_ what: String, _ files: [String: [UInt8]], noteCount: Int = 0) throws {
        let volume = MemoryVolume(contents: files)
        let store = try Store.open(volume, durability: nil, environment: fixedEnvironment())
        #expect(store.graph.transaction.rawValue == 6 && store.recovery.notes.count == noteCount, "\(what): \(store.recovery.notes)")
        try store.recordDigest()
        try store.close()
        #expect(try Store.reopened(volume).graph.transaction.rawValue == 7, "\(what)")
    }

    @Test func `a log of three segments is sound, however much of it HEAD names`() throws {
        for state in HeadState.allCases { try expectSound("\(state)", files(state), noteCount: state == .none ? 1 : 0) }
    }

    @Test(arguments: 0..<2)
    func `a missing, foreign, doubled or older segment before the last one is refused`(place: Int) throws {
        let (image, last) = (Self.images[place], Self.images[2])
        let path = image.path
        try expectRefusal("missing") { $0[path] = nil }
        try expectRefusal("belongs to another store", file: path) {
            $0[path] = SegmentImage.header(image.bytes, 9, at: Format.Segment.storeOffset) + image.bytes.dropFirst(96)
        }
        try expectRefusal("swapped with the last one", file: path) { ($0[path], $0[last.path]) = (last.bytes, image.bytes) }
        for name in [2, 4, 6, 7, 99] as [UInt64] {
            let copy = LogFileName.path(TransactionNumber(rawValue: name), .segment)
            try expectRefusal("a copy is segment \(name)") { $0[copy] = image.bytes }
        }
        for offset in [Format.Segment.headerByteCount] + image.offsets {
            try expectRefusal("as it was before its transactions at \(offset)") { $0[path] = Array(image.bytes.prefix(offset)) }
        }
        try expectRefusal("made at another time") { $0[path] = other(image).bytes }
        try expectRefusal("of a later format", .unsupportedFormat, file: path) {
            $0[path] = SegmentImage.header(image.bytes, 3, at: Format.Segment.versionOffset)
        }
        for offset in [11, 15, 68, 91] {
            try expectRefusal("with content that this format does not have, at \(offset)", .unsupportedFormat, file: path) {
                $0[path] = SegmentImage.header(image.bytes, 1, at: offset) + image.bytes.dropFirst(96)
            }
        }
    }

    /// Makes a segment with the same transactions at another time. The next segment's header does not continue its checksums.
    private func other(_ image: SegmentImage) -> SegmentImage {
        var other = SegmentImage(first: image.header.firstTransaction.rawValue, after: image.header.previousChecksum, salt: 77)
        for _ in 0..<2 { other.append() }
        return other
    }

    @Test(.enabled(if: LongTests.areWanted)) func `a segment before the last one must verify to its last byte`() throws {
        for image in Self.images.dropLast() {
            for offset in image.bytes.indices {
                try expectRefusal("byte \(offset)", file: image.path) { $0[image.path]?[offset] ^= 1 << UInt8(offset % 8) }
                try expectRefusal("cut to \(offset)") { $0[image.path] = Array(image.bytes.prefix(offset)) }
            }
            for tail in [[0], [9], image.frame(at: image.bytes.count, durable: 0)] {
                try expectRefusal("\(tail.count) bytes after it") { $0[image.path] = image.bytes + tail }
            }
        }
    }

    @Test func `files with other names are ignored by an opening and reported by a verification`() throws {
        var files = files(.exact)
        files["log/3.log"] = Self.images[1].bytes
        files["log/notes.txt"] = [1]
        files["log/00000000000000000000.log"] = Self.images[0].bytes
        let verification = try Verification(MemoryVolume(contents: files))
        #expect(!verification.isSound && verification.findings.count == 3 && verification.transactionCount == 6)
        let volume = MemoryVolume(contents: files)
        #expect(try Store.open(volume, durability: nil).graph.transaction.rawValue == 6)
        #expect(volume.contents["log/3.log"] != nil && volume.contents["log/notes.txt"] != nil)
    }

    // MARK: Sealed segments

    @Test func `a sealed segment may replace an open one, and an open segment a sealed one`() throws {
        for (isFirstSealed, isSecondSealed) in [(true, false), (false, true), (true, true)] {
            for state in HeadState.allCases {
                var files = files(state)
                if isFirstSealed { files[Self.images[0].path] = Self.images[0].sealed }
                if isSecondSealed { files[Self.images[1].path] = Self.images[1].sealed }
                try expectSound("\(isFirstSealed) \(isSecondSealed) \(state)", files, noteCount: state == .none ? 1 : 0)
            }
        }
    }

    @Test func `a sealed segment whose index or end does not match is refused`() throws {
        let image = Self.images[1]
        let sealed = image.sealed
        for offset in sealed.indices {
            try expectRefusal("byte \(offset)", file: image.path) {
                $0[image.path] = sealed
                $0[image.path]?[offset] ^= 1 << UInt8(offset % 8)
            }
        }
        for tail in [[0], [UInt8](repeating: 0, count: 12), Array(sealed.suffix(12))] {
            try expectRefusal("\(tail.count) bytes after its end", file: image.path) { $0[image.path] = sealed + tail }
        }
        let misfits: [(String, (inout SegmentIndex) -> Void)] = [
            ("another end of the segment before", { $0.previousChecksum ^= 1 }),
            (
                "bytes of one frame as those of the next",
                { ($0.entries[0].byteCount, $0.entries[1].byteCount) = ($0.entries[0].byteCount + 1, $0.entries[1].byteCount - 1) }
            ),
            ("a frame less", { $0.entries.removeLast() }),
            ("a frame more", { $0.entries.append($0.entries[0]) }),
            ("one frame for both", { $0.entries = [.init(byteCount: $0.offset - 96, transactionCount: 2, interval: 3)] }),
            ("a transaction more", { $0.entries[1].transactionCount = 2 }),
            ("a transaction of one frame as the next one's", { $0.entries[0].transactionCount = 2 }),
            ("another time", { $0.entries[1].interval += 1 }),
        ]
        for (what, change) in misfits {
            try expectRefusal("an index with \(what)") { $0[image.path] = image.sealed(change) }
        }
    }
}

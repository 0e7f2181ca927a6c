import CambiumModel
import TestFixtures

@testable import CambiumLog

/// A log after an incident: the end of its last segment, the state of HEAD and the segment before.
struct RecoveryCase: CustomStringConvertible {
    /// The state of the last segment.
    enum Last: CaseIterable {
        case end, zeros, garbage, silentFrame, nearlyStatingFrame, statingFrame, barelyStatingFrame, unparsableFrame
        case emptyFile, partOfHeader, corruptedHeader, zeroHeader, corruptedHeaderAndMore, zerosForAll
        case otherStore, otherNumber, laterVersion, laterKind, ops, sealed, missing
    }

    enum Head: CaseIterable {
        case missing, empty, bothDamaged, otherStore, newerDamaged
        case older, exact, closed, closedOlder, beyond, closedBeyond, later
        case before, closedBefore, closedBeforeOlder, beyondBefore, laterBefore
        case missingSegment, missingEarlierSegment
    }

    enum Before: CaseIterable { case nothing, open, sealed }

    let last: Last
    let headState: Head
    let before: Before
    let frameCount: Int

    /// The segment before the last one.
    let earlier: SegmentImage?
    /// The last segment as it was intended: `frameCount` frames and nothing else.
    let image: SegmentImage
    /// The contents of the newest valid slot of HEAD.
    let head: CambiumLog.Head?

    var description: String { "\(last), HEAD \(headState), before: \(before), \(frameCount) frames" }

    /// Returns `nil` if the states exclude each other because the position that HEAD would name does not exist.
    init?(_ last: Last, _ headState: Head, _ before: Before, frameCount: Int) {
        (self.last, self.headState, self.before, self.frameCount) = (last, headState, before, frameCount)
        var earlier = SegmentImage(first: 1)
        for count in [1, 2, 1] { earlier.append(count) }
        let isFirst = before == .nothing
        var image = isFirst ? SegmentImage(first: 1) : SegmentImage(first: 5, after: earlier.lastChecksum)
        for _ in 0..<frameCount { image.append() }
        self.earlier = isFirst ? nil : earlier
        self.image = image
        guard let head = Self.head(headState, image, isFirst ? nil : earlier) else { return nil }
        self.head = head.isSilent ? nil : head.head
    }

    static var all: [RecoveryCase] {
        var cases: [RecoveryCase] = []
        for last in Last.allCases {
            for head in Head.allCases {
                for before in Before.allCases {
                    for frameCount in [0, 3] {
                        if let found = RecoveryCase(last, head, before, frameCount: frameCount) { cases.append(found) }
                    }
                }
            }
        }
        return cases
    }

    private static func head(
        _ state: Head, _ image: SegmentImage, _ earlier: SegmentImage?
    ) -> (head: CambiumLog.Head, isSilent: Bool)? {
        func naming(_ named: SegmentImage, _ position: Int, _ transaction: UInt64, closed: Bool = false) -> CambiumLog.Head {
            CambiumLog.Head(
                sequence: 8, segment: named.header.firstTransaction, position: UInt64(position),
                lastTransaction: TransactionNumber(rawValue: transaction), isClosed: closed)
        }
        func missing(_ number: UInt64) -> CambiumLog.Head { naming(SegmentImage(first: number), 96, number - 1) }
        let exact = naming(image, image.bytes.count, image.lastTransaction)
        let (end, number) = (image.bytes.count, image.lastTransaction)
        switch state {
        case .missing, .empty, .bothDamaged, .otherStore: return (exact, true)
        case .newerDamaged, .exact: return (exact, false)
        case .closed: return (naming(image, end, number, closed: true), false)
        case .beyond: return (naming(image, end + 1, number), false)
        case .closedBeyond: return (naming(image, end + 7, number + 1, closed: true), false)
        case .later: return (naming(image, end, number + 1), false)
        case .older, .closedOlder:
            guard let offset = image.offsets.last else { return nil }
            return (naming(image, offset, number - 1, closed: state == .closedOlder), false)
        case .closedBeforeOlder:
            guard let earlier, let offset = earlier.offsets.last else { return nil }
            return (naming(earlier, offset, earlier.lastTransaction - 1, closed: true), false)
        case .before, .closedBefore, .beyondBefore, .laterBefore:
            guard let earlier else { return nil }
            let position = earlier.bytes.count + (state == .beyondBefore ? 1 : 0)
            let transaction = state == .laterBefore ? number + 1 : earlier.lastTransaction
            return (naming(earlier, position, transaction, closed: state == .closedBefore), false)
        case .missingSegment: return (missing(number + 9), false)
        case .missingEarlierSegment: return earlier == nil ? nil : (missing(3), false)
        }
    }

    // MARK: Files

    var files: [String: [UInt8]] {
        let settings = StoreSettings(store: SegmentImage.store, creationTime: SegmentImage.time, durability: .synced)
        var files = [StoreSettings.fileName: settings.encode()]
        if let earlier { files[earlier.path] = before == .sealed ? earlier.sealed : earlier.bytes }
        files[image.path] = lastBytes
        files["HEAD"] = headBytes
        return files
    }

    /// The offset at which frames after a hole begin.
    private var frameOffset: Int { image.bytes.count + 40 }

    private func afterHole(durable: Int) -> [UInt8] {
        image.bytes + [UInt8](repeating: 0, count: 39) + [7] + image.frame(at: frameOffset, durable: durable)
    }

    private var lastBytes: [UInt8]? {
        let bytes = image.bytes
        var corrupted = bytes
        corrupted[50] ^= 4
        func changed(_ byte: UInt8, at offset: Int) -> [UInt8] {
            SegmentImage.header(bytes, byte, at: offset) + bytes.dropFirst(Format.Segment.headerByteCount)
        }
        switch last {
        case .end: return bytes
        case .zeros: return bytes + [UInt8](repeating: 0, count: 300)
        case .garbage: return bytes + [9, 0, 9]
        case .silentFrame: return afterHole(durable: 0)
        case .nearlyStatingFrame: return afterHole(durable: bytes.count)
        case .statingFrame: return afterHole(durable: frameOffset)
        case .barelyStatingFrame: return afterHole(durable: bytes.count + 1)
        case .unparsableFrame: return bytes + image.unparsableFrame
        case .emptyFile: return []
        case .partOfHeader: return Array(bytes.prefix(50))
        case .corruptedHeader: return Array(corrupted.prefix(96))
        case .zeroHeader: return [UInt8](repeating: 0, count: 96)
        case .corruptedHeaderAndMore: return corrupted + [0]
        case .zerosForAll: return [UInt8](repeating: 0, count: 97)
        case .otherStore: return changed(99, at: Format.Segment.storeOffset)
        case .otherNumber: return changed(77, at: Format.Segment.firstTransactionOffset)
        case .laterVersion: return changed(3, at: Format.Segment.versionOffset)
        case .laterKind: return changed(4, at: Format.Segment.kindOffset)
        case .ops:
            return SegmentImage.header(bytes, 2, at: Format.Segment.kindOffset) + bytes.dropFirst(Format.Segment.headerByteCount)
        case .sealed: return image.sealed
        case .missing: return nil
        }
    }

    private var headBytes: [UInt8]? {
        guard let (head, _) = Self.head(headState, image, earlier) else { return nil }
        var other = head
        other.sequence = headState == .newerDamaged ? 9 : 7
        other.position += headState == .newerDamaged ? 1000 : 0
        let store = headState == .otherStore ? [UInt8](repeating: 3, count: 16) : SegmentImage.store
        var bytes = head.encode(store: store) + other.encode(store: store)
        switch headState {
        case .missing: return nil
        case .empty: return []
        case .bothDamaged: (bytes[20], bytes[148]) = (bytes[20] ^ 1, bytes[148] ^ 1)
        case .newerDamaged: bytes[164] ^= 1
        default: break
        }
        return bytes
    }
}

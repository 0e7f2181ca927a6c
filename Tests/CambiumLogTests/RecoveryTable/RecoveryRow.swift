import CambiumModel
import TestFixtures

@testable import CambiumLog

/// The rows of the table of FORMAT.md 8, written from its text and not from the code.
enum RecoveryRow: CaseIterable {
    case clean, olderHead, cutLog, tornTail, corruptTail, unparsable, tornCreation, tornOnly, tornNamed, tornAfterCut
    case corruptedHeader, foreignHeader, laterFormat, missingNamed, noSegments, sealedLast

    enum Outcome: Equatable {
        case kept, cut, removed
        case refused(CambiumError.Code)
    }

    var outcome: Outcome {
        switch self {
        case .clean, .olderHead: .kept
        case .tornTail: .cut
        case .tornCreation: .removed
        case .laterFormat: .refused(.unsupportedFormat)
        default: .refused(.corrupted)
        }
    }
}

extension RecoveryCase {
    private var isOnly: Bool { earlier == nil }

    /// The existing segments, by the numbers of their first transactions.
    private var segments: [UInt64] { (isOnly ? [] : [1]) + (last == .missing ? [] : [image.header.firstTransaction.rawValue]) }

    /// Returns whether HEAD states that the log was durable beyond the end of a segment that is taken for the last one.
    private func headStatesMore(beyond segment: SegmentImage) -> Bool {
        guard let head else { return false }
        if head.segment == segment.header.firstTransaction, head.position > segment.bytes.count { return true }
        return head.lastTransaction.rawValue > segment.lastTransaction
    }

    /// Returns whether HEAD was written by a closing that did not end with a segment that is taken for the last one.
    private func wasClosedElsewhere(than segment: SegmentImage) -> Bool {
        guard let head, head.isClosed else { return false }
        return head.segment != segment.header.firstTransaction || head.position != segment.bytes.count
    }

    private var namesMissingSegment: Bool { head.map { !segments.contains($0.segment.rawValue) && !isMerged($0.segment) } ?? false }

    /// Returns whether another segment began with this transaction before it was merged into the sealed segment before the last one.
    private func isMerged(_ segment: TransactionNumber) -> Bool {
        guard let earlier, before == .sealed, last != .missing else { return false }
        return segment.rawValue <= earlier.lastTransaction
    }

    var row: RecoveryRow {
        let statesMore = headStatesMore(beyond: image)
        let isOlder = wasClosedElsewhere(than: image)
        switch last {
        case .laterVersion, .laterKind: return .laterFormat
        case .otherStore, .otherNumber, .ops: return .foreignHeader
        case .corruptedHeaderAndMore, .zerosForAll: return .corruptedHeader
        case .unparsableFrame: return .unparsable
        case .emptyFile, .partOfHeader, .corruptedHeader, .zeroHeader: return rowOfBeginning
        case .missing: return rowWithoutLast
        case _ where namesMissingSegment: return .missingNamed
        case .sealed: return .sealedLast
        case .end, .zeros: return statesMore ? .cutLog : isOlder ? .olderHead : .clean
        case .garbage, .silentFrame, .nearlyStatingFrame: return statesMore || isOlder ? .corruptTail : .tornTail
        case .statingFrame, .barelyStatingFrame: return .corruptTail
        }
    }

    /// The row for a last file that is only the beginning of a segment. The segment before it is then the last one with frames.
    private var rowOfBeginning: RecoveryRow {
        guard let earlier else { return .tornOnly }
        if namesMissingSegment { return .missingNamed }
        if head?.segment == image.header.firstTransaction { return .tornNamed }
        return headStatesMore(beyond: earlier, isSealed: before == .sealed) ? .tornAfterCut : .tornCreation
    }

    private var rowWithoutLast: RecoveryRow {
        guard let earlier else { return .noSegments }
        if namesMissingSegment { return .missingNamed }
        if before == .sealed { return .sealedLast }
        return headStatesMore(beyond: earlier) ? .cutLog : wasClosedElsewhere(than: earlier) ? .olderHead : .clean
    }

    /// Compares transactions if the segment is sealed, because sealing changes the positions that HEAD names.
    private func headStatesMore(beyond segment: SegmentImage, isSealed: Bool) -> Bool {
        guard isSealed, let head else { return headStatesMore(beyond: segment) || wasClosedElsewhere(than: segment) }
        let last = head.lastTransaction.rawValue
        return last > segment.lastTransaction || head.isClosed && last != segment.lastTransaction
    }
}

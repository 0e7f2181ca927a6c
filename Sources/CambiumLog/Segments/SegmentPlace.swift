import CambiumModel

/// A place between two frames of an open segment, from which a later reading goes on. Such a segment has no index that leads there.
public struct SegmentPlace: Sendable {
    fileprivate let headerChecksum: UInt32
    fileprivate let offset: Int
    fileprivate let lastFrameChecksum: UInt32
    fileprivate let durableOffset: Int
    fileprivate let next: TransactionNumber
    fileprivate let codec: TransactionCodec
    fileprivate let jointOffset: Int?
}

extension SegmentReader {
    /// Where the segment is read on; `nil` for a sealed segment.
    var place: SegmentPlace? {
        if isSealed { return nil }
        return SegmentPlace(
            headerChecksum: headerChecksum, offset: offset, lastFrameChecksum: lastFrameChecksum, durableOffset: durableOffset, next: next,
            codec: codec, jointOffset: jointOffset)
    }

    /// Goes to a place if it is one of this segment, which is not sealed, and not after a transaction. A frame there verifies only if it is
    /// the one that was there.
    ///
    /// - Returns: false if the reader stays where it is.
    mutating func goOn(at place: SegmentPlace, notAfter transaction: TransactionNumber) -> Bool {
        guard !isSealed, place.headerChecksum == headerChecksum, place.offset <= byteCount, place.next <= transaction else { return false }
        goOn(
            offset: place.offset, lastFrameChecksum: place.lastFrameChecksum, durableOffset: place.durableOffset, next: place.next,
            codec: place.codec, jointOffset: place.jointOffset)
        return true
    }
}

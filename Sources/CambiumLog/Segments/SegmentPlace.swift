internal import CambiumModel

/// A position between two frames of an open segment, at which a later read continues. A reader needs such a position because an open
/// segment has no index.
package struct SegmentPlace: Sendable {
    fileprivate let headerChecksum: UInt32
    fileprivate let offset: Int
    fileprivate let lastFrameChecksum: UInt32
    fileprivate let durableOffset: Int
    fileprivate let next: TransactionNumber
    fileprivate let codec: TransactionCodec
    fileprivate let jointOffset: Int?
}

extension SegmentReader {
    /// The position at which reading the segment can continue; `nil` for a sealed segment.
    var place: SegmentPlace? {
        if isSealed { return nil }
        return SegmentPlace(
            headerChecksum: headerChecksum, offset: offset, lastFrameChecksum: lastFrameChecksum, durableOffset: durableOffset, next: next,
            codec: codec, jointOffset: jointOffset)
    }

    /// Moves to the position at which an earlier reader stopped. Does not move if the segment is sealed, if the position belongs to another
    /// segment, or if the position lies after `transaction`. The checksum of a frame depends on the header of the segment and on the
    /// offset. So a frame at the position passes verification only if it belongs to this segment.
    ///
    /// - Returns: whether the reader has moved.
    mutating func resume(at place: SegmentPlace, notAfter transaction: TransactionNumber) -> Bool {
        guard !isSealed, place.headerChecksum == headerChecksum, place.offset <= byteCount, place.next <= transaction else { return false }
        resume(
            offset: place.offset, lastFrameChecksum: place.lastFrameChecksum, durableOffset: place.durableOffset, next: place.next,
            codec: place.codec, jointOffset: place.jointOffset)
        return true
    }
}

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

    /// Moves to a place, if the segment is not sealed, and the place belongs to the segment and does not follow `transaction`. The checksum
    /// of a frame depends on the header and the offset. So a frame at the place verifies only if it belongs to this segment.
    ///
    /// - Returns: `false` if the reader does not move.
    mutating func resume(at place: SegmentPlace, notAfter transaction: TransactionNumber) -> Bool {
        guard !isSealed, place.headerChecksum == headerChecksum, place.offset <= byteCount, place.next <= transaction else { return false }
        resume(
            offset: place.offset, lastFrameChecksum: place.lastFrameChecksum, durableOffset: place.durableOffset, next: place.next,
            codec: place.codec, jointOffset: place.jointOffset)
        return true
    }
}

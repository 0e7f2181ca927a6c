import CambiumBytes
internal import CambiumModel

/// A joint: a frame without transactions that marks a position in the log. A reader can begin at that position. FORMAT.md 3, "Joints".
///
/// A joint repeats the number and the time of the last transaction before it.
struct Joint: Equatable {
    let transaction: TransactionNumber
    /// The time of `transaction`, in microseconds since 1970.
    let time: Int64

    /// The content of the joint's frame, which has no transactions.
    var region: [UInt8] {
        var writer = ByteWriter(capacity: Format.Joint.regionByteCount)
        writer.write(transaction.rawValue)
        writer.write(time)
        return writer.bytes
    }

    init(transaction: TransactionNumber, time: Int64) {
        self.transaction = transaction
        self.time = time
    }

    /// Decodes the content of a joint's frame. Throws if the content has the wrong length.
    init(region: ArraySlice<UInt8>) throws(DecodingError) {
        var reader = ByteReader(region)
        transaction = TransactionNumber(rawValue: try reader.read(UInt64.self))
        time = try reader.read(Int64.self)
        try reader.finish()
    }
}

/// A position in the log that a checkpoint names: the end of the log when the checkpoint was made.
package struct LogPosition: Sendable, Equatable {
    /// The offset of the joint in its segment; 0 if this position is the beginning of a segment.
    package let jointOffset: Int
    /// The checksum of the joint; at the beginning of a segment, the checksum of the last frame of the previous segment.
    package let checksum: UInt32

    package init(jointOffset: Int = 0, checksum: UInt32) {
        self.jointOffset = jointOffset
        self.checksum = checksum
    }
}

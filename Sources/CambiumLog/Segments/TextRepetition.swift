internal import CambiumModel

/// The texts of a sealed segment that its current frame repeats.
///
/// Each frame contains the actors and messages of its transactions again, but the segment before sealing contains each of them once. So
/// short frames with many long texts could take far more space than that segment.
struct TextRepetition {
    /// Repeating a shorter text costs about as much as a transaction, so such texts are not counted.
    private static let textByteCountMin = 64

    /// The hashes of the long texts in all frames, and of those in the current frame. Two texts with the same hash only make a frame
    /// longer.
    private var known = Set<Int>()
    private var current = Set<Int>()
    /// The number of bytes of the texts in the current frame that earlier frames have as well.
    private var repeatedByteCount = 0
    /// The number of bytes that the transactions of the current frame had in the segments that the new segment replaces.
    private var replacedByteCount = 0

    /// Whether the repeated texts take more than half of the bytes that the frame replaces.
    var isTooLarge: Bool { 2 * repeatedByteCount > replacedByteCount }

    mutating func note(_ record: LogRecord) {
        replacedByteCount += record.byteCount - record.fileByteCount
        for text in [record.metadata.actor, record.metadata.message] {
            guard let text, text.utf8.count >= Self.textByteCountMin else { continue }
            let hash = text.hashValue
            if current.insert(hash).inserted, !known.insert(hash).inserted { repeatedByteCount += text.utf8.count }
        }
    }

    mutating func beginFrame() {
        current.removeAll()
        (repeatedByteCount, replacedByteCount) = (0, 0)
    }
}

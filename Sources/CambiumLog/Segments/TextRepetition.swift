internal import CambiumModel

/// The texts of a sealed segment that its current frame repeats.
///
/// Each frame of a sealed segment repeats the actors and messages of its transactions. The open segment contained each of these texts only
/// once. So short frames with many long texts could take far more space than the open segment.
struct TextRepetition {
    /// Shorter texts are not counted, because repeating a shorter text costs only about as much as a transaction.
    private static let textByteCountMin = 64

    /// The hashes of the long texts in all frames so far. If two different texts have the same hash, a frame only becomes longer.
    private var known = Set<Int>()
    /// The hashes of the long texts in the current frame.
    private var current = Set<Int>()
    /// The total length, in bytes, of those long texts in the current frame that earlier frames contain, too.
    private var repeatedByteCount = 0
    /// The number of bytes that the transactions of the current frame occupied in the segments that the new segment replaces, without files
    /// of ops.
    private var replacedByteCount = 0

    /// Whether the repeated texts take more than half of the bytes that the frame replaces.
    var isTooLarge: Bool { 2 * repeatedByteCount > replacedByteCount }

    mutating func track(_ record: LogRecord) {
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

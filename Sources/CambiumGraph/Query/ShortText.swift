/// Up to 16 bytes of text, stored as two words.
struct ShortText {
    static let byteCountMax = 16

    let low: UInt64
    let high: UInt64

    /// Returns `nil` if there are more than 16 bytes.
    init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count <= Self.byteCountMax else { return nil }
        var words: (UInt64, UInt64) = (0, 0)
        for (index, byte) in bytes.enumerated() {
            if index < 8 { words.0 |= UInt64(byte) << UInt64(8 * index) } else { words.1 |= UInt64(byte) << UInt64(8 * (index - 8)) }
        }
        (low, high) = words
    }
}

/// Where a key of 16 bytes stands in a series: keys that differ in a number only, whose hashes are evenly spaced over all hashes.
///
/// The lowest 24 bits of a UUID are the number, the 5 bits above say how many of them count: *b*, 1 to 24. The hash of number *j* is that
/// of number 0 and *j* / 2^*b* of the range of hashes. So the new UUIDs of a clone lie side by side in an index, whatever its key is.
/// It helps nobody who wants keys to collide: on average, no part of the range has more keys of a series than of 2^24 random keys.
struct UUIDSeries {
    /// The number in the low half of the key; 0 if the key is in no series.
    let number: UInt64
    private let bitCount: UInt64

    static let bitCountMax: UInt64 = 24

    @inline(__always) init(_ low: UInt64, _ high: UInt64) {
        let told = low &>> Self.bitCountMax & 31
        bitCount = high == 0 || told > Self.bitCountMax ? 0 : told
        number = low & ((1 &<< bitCount) &- 1)
    }

    /// The low half of a UUID whose lowest bits are numbers of so many bits, with the number 0.
    static func tagged(_ low: UInt64, bitCount: UInt64) -> UInt64 {
        low & ~((1 &<< (bitCountMax &+ 5)) &- 1) | bitCount &<< bitCountMax
    }

    /// - Parameter first: the hash of number 0.
    @inline(__always) func hash(from first: UInt64) -> UInt64 {
        // Neighbors differ in the three bits that name their block, too.
        let block = number &>> (bitCount > Self.plainBitCount ? bitCount &- Self.plainBitCount : 0) & UInt64(Bucket.blockCount &- 1)
        // A key in no series has the number 0, which can be shifted by any count.
        return (first &+ number &<< (64 &- bitCount)) ^ block &<< Bucket.fragmentShift
    }

    /// Steps of series with more bits reach the bits that name a block by themselves.
    private static let plainBitCount: UInt64 = 21
}

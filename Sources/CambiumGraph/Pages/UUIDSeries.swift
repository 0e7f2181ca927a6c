/// The position of a 16-byte key in its series. A series is a set of keys that differ only in a number. The hashes of a series are evenly
/// distributed over the range of all hashes.
///
/// The lowest 24 bits of a UUID are the number. The next 5 bits state how many bits of the number are used: *b*, 1 to 24. The hash of
/// number *j* is the hash of number 0 plus *j* / 2^*b* of the range of hashes. In the three bits that select a block of a bucket, the hash
/// may differ from this value. So the new UUIDs of a clone are nearly in the order of their hashes, whatever the hash key is. A series does
/// not help an attacker to make keys collide. On average, a series puts no more keys into a part of the range than 2^24 random keys would.
struct UUIDSeries {
    /// The number in the low half of the key; 0 if the key is in no series.
    let number: UInt64
    private let bitCount: UInt64

    static let bitCountMax: UInt64 = 24

    @inline(__always) init(_ low: UInt64, _ high: UInt64) {
        let stated = low &>> Self.bitCountMax & 31
        bitCount = high == 0 || stated > Self.bitCountMax ? 0 : stated
        number = low & ((1 &<< bitCount) &- 1)
    }

    /// Returns the low half of the UUID with the number 0 in a series whose numbers have `bitCount` bits.
    static func tagged(_ low: UInt64, bitCount: UInt64) -> UInt64 {
        low & ~((1 &<< (bitCountMax &+ 5)) &- 1) | bitCount &<< bitCountMax
    }

    /// Returns the hash of the key.
    ///
    /// - Parameter first: The hash of the key with the number 0 in the series.
    @inline(__always) func hash(from first: UInt64) -> UInt64 {
        // The sum distributes the hashes of a series evenly over the range of hashes. The XOR changes only the three bits that select the
        // block of a bucket, so that consecutive keys differ in these bits.
        let block = number &>> (bitCount > Self.plainBitCount ? bitCount &- Self.plainBitCount : 0) & UInt64(Bucket.blockCount &- 1)
        // If the key is in no series, `number` and `bitCount` are 0. Then `block` is 0, too, and the result is `first`.
        return (first &+ number &<< (64 &- bitCount)) ^ block &<< Bucket.fragmentShift
    }

    /// If a series has at most this many bits, its hashes alone would all select the same block of a bucket. The hashes of longer series
    /// differ in the bits that select a block.
    private static let plainBitCount: UInt64 = 21
}

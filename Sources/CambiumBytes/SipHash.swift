/// SipHash-1-3, a hash with a secret key. Without the key, an attacker cannot choose inputs that collide. The hash has one round for each
/// word and three rounds at the end. Source: J.-P. Aumasson and D. J. Bernstein, "SipHash: a fast short-input PRF".
public enum SipHash {
    /// Returns the hash of the bytes under a key of 128 bits. Complexity: O(bytes).
    public static func hash13(_ bytes: UnsafeRawBufferPointer, key low: UInt64, _ high: UInt64) -> UInt64 {
        var state = State(low, high)
        let count = bytes.count
        var offset = 0
        while offset &+ 8 <= count {
            // SAFETY: the eight bytes at `offset` are in the buffer.
            state.take(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset &+= 8
        }
        state.take(UInt64(truncatingIfNeeded: count) &<< 56 | rest(bytes, from: offset))
        return state.finish()
    }

    /// Returns the last bytes, at most seven, as a number in little-endian order. Avoids a loop over these bytes, because the loop would
    /// take about half of the time of hashing a short text.
    @inline(__always) private static func rest(_ bytes: UnsafeRawBufferPointer, from offset: Int) -> UInt64 {
        let count = bytes.count &- offset
        if count == 0 { return 0 }
        // SAFETY: `count` is at most 7. Each load lies inside the buffer: the last eight bytes of at least eight, the first four and the
        // last four of at least four, or the first, middle and last byte of at least one.
        if offset > 0 {
            let last = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: bytes.count &- 8, as: UInt64.self))
            return last &>> UInt64(8 &* (8 &- count))
        }
        if count >= 4 {
            let first = UInt64(UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)))
            let last = UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)))
            return first | last &<< UInt64(8 &* (count &- 4))
        }
        let middle = count &>> 1
        return UInt64(bytes[0]) | UInt64(bytes[middle]) &<< UInt64(8 &* middle) | UInt64(bytes[count &- 1]) &<< UInt64(8 &* (count &- 1))
    }

    private struct State {
        private var a, b, c, d: UInt64

        @inline(__always) init(_ low: UInt64, _ high: UInt64) {
            a = low ^ 0x736F_6D65_7073_6575
            b = high ^ 0x646F_7261_6E64_6F6D
            c = low ^ 0x6C79_6765_6E65_7261
            d = high ^ 0x7465_6462_7974_6573
        }

        @inline(__always) mutating func take(_ word: UInt64) {
            d ^= word
            round()
            a ^= word
        }

        @inline(__always) mutating func finish() -> UInt64 {
            c ^= 0xFF
            for _ in 0..<3 { round() }
            return a ^ b ^ c ^ d
        }

        @inline(__always) private mutating func round() {
            a &+= b
            b = Self.rotated(b, 13) ^ a
            a = Self.rotated(a, 32)
            c &+= d
            d = Self.rotated(d, 16) ^ c
            a &+= d
            d = Self.rotated(d, 21) ^ a
            c &+= b
            b = Self.rotated(b, 17) ^ c
            c = Self.rotated(c, 32)
        }

        @inline(__always) private static func rotated(_ word: UInt64, _ count: UInt64) -> UInt64 {
            word &<< count | word &>> (64 &- count)
        }
    }
}

import CambiumBytes

/// Computes the hash of a key in an index from the values of the key, one by one. A log contains no hashes, so another build may have
/// another function. Stored pages contain hashes and the fingerprint of the function, so a build without this function does not use these
/// pages.
///
/// Words are multiplied by secret factors, and the high half of the 128-bit sum of the products is kept. For two keys that are chosen
/// without knowledge of the secret, all pairs of hashes are equally likely. Source: M. Thorup, "High Speed Hashing for Integers and
/// Strings", the vector multiply-shift. Then the bits are mixed. Mixing is invertible, so the hashes keep this property. The property does
/// not hold for two keys of one `UUIDSeries`: the distance between their hashes is known. See decisions 0021 and 0028.
package struct KeyHasher {
    /// The address of the secret numbers. A copy of them would cost more than the hash of a short text.
    let numbers: UnsafePointer<HashNumbers>

    @inline(__always) init(_ numbers: UnsafePointer<HashNumbers>) { self.numbers = numbers }

    /// A value that identifies the hash function. If another function filled the buckets of a page file, the pages of this file cannot be
    /// used.
    static let fingerprint: UInt64 = {
        let numbers = OwnedHashNumbers(HashNumbers(HashKey(secret: Array("cambium".utf8))))
        let hasher = numbers.hasher
        var hash = hasher.hash(0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210)
        hash = hasher.hash(0x0123_4567_89AB_CDEF, 0, after: hash)
        hash = hasher.hash(UUIDSeries.tagged(0x0123_4567_0000_0000, bitCount: 20) | 5, 1, after: hash)
        var samples = [Array("cambium".utf8)]
        samples += [0, 1, 12, 16, 36, 64, 65].map { count in (0..<UInt8(count)).map(\.self) }
        for sample in samples { hash = sample.withUnsafeBytes { hasher.hash($0, after: hash) } }
        return withExtendedLifetime(numbers) { hash }
    }()

    /// Returns the hash of a value of fixed width.
    ///
    /// - Parameter before: The hash of the preceding values of the key; 0 for the first value.
    @inline(__always) func hash(_ low: UInt64, _ high: UInt64, after before: UInt64 = 0) -> UInt64 {
        let series = UUIDSeries(low, high)
        return series.hash(from: mixedSum(low ^ series.number, high, before))
    }

    /// Returns the hash of a value that is not null.
    ///
    /// - Parameter before: The hash of the preceding values of the key; 0 for the first value.
    @inline(__always) func hash(_ cell: Cell, after before: UInt64 = 0) -> UInt64 {
        cell.kind == .bytes ? hash(cell.bytes, after: before) : hash(cell.low, cell.high, after: before)
    }

    /// Returns the mixed bits of the sum of three products. Each product has a secret factor.
    @inline(__always) func mixedSum(_ low: UInt64, _ high: UInt64, _ before: UInt64) -> UInt64 {
        let sum =
            UInt128(low) &* numbers.pointee.key.low &+ UInt128(high) &* numbers.pointee.key.high
            &+ UInt128(before) &* numbers.pointee.key.before &+ numbers.pointee.key.offset
        return Mixing.mixed(UInt64(truncatingIfNeeded: sum &>> 64))
    }
}

extension KeyHasher {
    /// Returns the hash of a text or data.
    ///
    /// A value of at most 64 bytes is first reduced to two words. These words, the number of bytes and the hash of the preceding values are
    /// multiplied by secret factors, as for a value of fixed width. Longer values are hashed with SipHash-1-3.
    ///
    /// - Parameter before: The hash of the preceding values of the key; 0 for the first value.
    func hash(_ bytes: UnsafeRawBufferPointer, after before: UInt64 = 0) -> UInt64 {
        if bytes.count > HashNumbers.pairedByteCountMax {
            return SipHash.hash13(bytes, key: numbers.pointee.key.bytes.x, numbers.pointee.key.bytes.y ^ before)
        }
        let (low, high) = bytes.count < 16 ? Self.words(of: bytes) : sumOfPairs(bytes)
        return mixedSum(low, high, before ^ UInt64(truncatingIfNeeded: bytes.count))
    }

    /// Returns two words from which the given bytes can be recovered if their number is known. There must be fewer than 16 bytes.
    @inline(__always) private static func words(of bytes: UnsafeRawBufferPointer) -> (low: UInt64, high: UInt64) {
        // SAFETY: each load lies inside the buffer. Loads may overlap.
        let count = bytes.count
        if count >= 8 { return (word(bytes, 0), word(bytes, count &- 8)) }
        if count >= 4 {
            let first = UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self))
            let last = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self))
            return (UInt64(first), UInt64(last))
        }
        if count == 0 { return (0, 0) }
        return (UInt64(bytes[0]) | UInt64(bytes[count &>> 1]) &<< 8, UInt64(bytes[count &- 1]))
    }

    /// Returns the sum of the products of 16 to 64 bytes: each pair of words is added to a secret pair of words, and the two results are
    /// multiplied. If two values have the same number of bytes, the probability that their sums are equal is at most 2^-64 over all keys.
    /// Source: J. Black et al., "UMAC: Fast and Secure Message Authentication", the function NH.
    @inline(__always) private func sumOfPairs(_ bytes: UnsafeRawBufferPointer) -> (low: UInt64, high: UInt64) {
        // The last pair ends with the last byte, so it may overlap the pair before it.
        let last = bytes.count &- 16
        var sum = product(bytes, last, numbers.pointee.pairs.0)
        if last > 0 { sum &+= product(bytes, 0, numbers.pointee.pairs.1) }
        if last > 16 { sum &+= product(bytes, 16, numbers.pointee.pairs.2) }
        if last > 32 { sum &+= product(bytes, 32, numbers.pointee.pairs.3) }
        return (UInt64(truncatingIfNeeded: sum), UInt64(truncatingIfNeeded: sum &>> 64))
    }

    @inline(__always) private func product(_ bytes: UnsafeRawBufferPointer, _ offset: Int, _ secret: SIMD2<UInt64>) -> UInt128 {
        let result = (Self.word(bytes, offset) &+ secret.x).multipliedFullWidth(by: Self.word(bytes, offset &+ 8) &+ secret.y)
        return UInt128(result.high) &<< 64 | UInt128(result.low)
    }

    @inline(__always) private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}

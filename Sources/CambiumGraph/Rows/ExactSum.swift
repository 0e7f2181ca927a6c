/// The exact sum of doubles. Numbers can be added and subtracted in any order: equal sets of numbers have equal sums, bit by bit. The total
/// is rounded only once.
///
/// The sum is a whole number of units of 2^-1074, the smallest distance of two doubles, in two's complement (a Kulisch accumulator: "The
/// Fifth Floating-Point Operation for Top-Performance Computers", 1997).
struct ExactSum: Equatable {
    /// The words of the sum, the lowest first. A double is less than 2^2098 units, and a sum has fewer than 2^63 numbers. So 2,161 bits and
    /// a sign suffice.
    private var words = [UInt64](repeating: 0, count: wordCount)

    private static let wordCount = 34
    private static let fractionBitCount = Double.significandBitCount

    init() {}

    mutating func add(_ number: Double) { add(number, isNegative: number.sign == .minus) }
    mutating func subtract(_ number: Double) { add(number, isNegative: number.sign == .plus) }

    /// Adds or subtracts the magnitude of a finite number. Complexity: O(1), because a sum has a fixed number of words.
    private mutating func add(_ number: Double, isNegative: Bool) {
        let exponent = Int(number.exponentBitPattern)
        let fraction = number.significandBitPattern | (exponent == 0 ? 0 : 1 << UInt64(Self.fractionBitCount))
        if fraction == 0 { return }
        let position = max(exponent, 1) - 1
        let shifted = UInt128(fraction) << UInt128(position & 63)
        var parts = (low: UInt64(truncatingIfNeeded: shifted), high: UInt64(truncatingIfNeeded: shifted >> 64))
        var index = position >> 6
        var carry: UInt64 = 0
        // Two words are changed, and then as many words as the carry reaches.
        while index < Self.wordCount, parts.low != 0 || parts.high != 0 || carry != 0 {
            let word = words[index]
            let (first, isOver) = isNegative ? word.subtractingReportingOverflow(parts.low) : word.addingReportingOverflow(parts.low)
            let (second, isMore) = isNegative ? first.subtractingReportingOverflow(carry) : first.addingReportingOverflow(carry)
            words[index] = second
            carry = isOver || isMore ? 1 : 0
            parts = (parts.high, 0)
            index += 1
        }
    }

    /// The double that is nearest to the sum, never -0.0; infinite if the sum exceeds the range of a double.
    var total: Double {
        let isNegative = isNegative
        let magnitude = isNegative ? negated : words
        guard let top = magnitude.lastIndex(where: { $0 != 0 }) else { return 0 }
        let bitCount = 64 * top + 64 - magnitude[top].leadingZeroBitCount
        // The bits of a number with at most 53 bits are the bit pattern of the double.
        let shift = max(0, bitCount - Self.fractionBitCount - 1)
        var bits = Self.bits(magnitude, from: shift)
        if shift > 0, Self.roundsUp(magnitude, shift, isOdd: bits & 1 == 1) { bits += 1 }
        // The highest of the bits adds 1 to the exponent. If rounding has made a bit more, this bit adds 2.
        if shift >= Int(Double.infinity.exponentBitPattern) { return isNegative ? -.infinity : .infinity }
        let pattern = min(UInt64(shift) << UInt64(Self.fractionBitCount) + bits, Double.infinity.bitPattern)
        let total = Double(bitPattern: pattern)
        return isNegative ? -total : total
    }

    private var isNegative: Bool { words[Self.wordCount - 1] >> 63 == 1 }

    private var negated: [UInt64] {
        var carry = true
        return words.map { word in
            let (sum, isOver) = (~word).addingReportingOverflow(carry ? 1 : 0)
            carry = isOver
            return sum
        }
    }

    /// Returns 64 bits of a number, beginning with the bit `position`.
    private static func bits(_ words: [UInt64], from position: Int) -> UInt64 {
        let (index, shift) = (position >> 6, UInt64(position & 63))
        let high = index + 1 < words.count && shift > 0 ? words[index + 1] << (64 - shift) : 0
        return words[index] >> shift | high
    }

    /// Returns whether the bits below a position are more than half of the unit there, or exactly half if the bits from there on are odd.
    private static func roundsUp(_ words: [UInt64], _ position: Int, isOdd: Bool) -> Bool {
        let half = position - 1
        guard words[half >> 6] >> UInt64(half & 63) & 1 == 1 else { return false }
        if isOdd { return true }
        return words[..<(half >> 6)].contains { $0 != 0 } || words[half >> 6] & (1 << UInt64(half & 63) - 1) != 0
    }
}

/// The stored form of a sum: the index of the first word that is not 0, and then the words from there on, without the words that only
/// repeat the sign.
extension ExactSum {
    private static let wordByteCount = 8

    var bytes: [UInt8] {
        guard let first = words.firstIndex(where: { $0 != 0 }) else { return [0] }
        let sign: UInt64 = isNegative ? .max : 0
        var end = Self.wordCount
        while end - 1 > first, words[end - 1] == sign, words[end - 2] >> 63 == sign >> 63 { end -= 1 }
        return words[first..<end].reduce(into: [UInt8(first)]) { bytes, word in
            withUnsafeBytes(of: word.littleEndian) { bytes += $0 }
        }
    }

    /// Returns `nil` if the bytes are not the stored form of a sum.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard let first = bytes.first.map(Int.init), bytes.count % Self.wordByteCount == 1 else { return nil }
        let count = bytes.count / Self.wordByteCount
        guard first + count <= Self.wordCount else { return nil }
        for index in 0..<count {
            words[first + index] = UInt64(
                littleEndian: bytes.loadUnaligned(fromByteOffset: 1 + Self.wordByteCount * index, as: UInt64.self))
        }
        guard count > 0, words[first + count - 1] >> 63 == 1 else { return }
        for index in first + count..<Self.wordCount { words[index] = .max }
    }
}

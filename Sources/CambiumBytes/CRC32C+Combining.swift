extension CRC32C {
    /// The checksum of A and B one after the other, from that of A, that of B and the number of bytes of B.
    ///
    /// Complexity: O(log bytes). Source: M. Adler's `crc32_combine` in zlib.
    public static func combined(_ first: UInt32, _ second: UInt32, secondByteCount: Int) -> UInt32 {
        product(power(ofZeroBytes: secondByteCount), first) ^ second
    }

    private static let polynomial: UInt32 = 0x82F6_3B78

    /// x^(2^k) modulo the polynomial, for k from 0 to 31; the highest bit is that of x^0.
    private static let powersOfX: [UInt32] = {
        var powers: [UInt32] = [1 << 30]
        while powers.count < 32 { powers.append(product(powers[powers.count - 1], powers[powers.count - 1])) }
        return powers
    }()

    /// x^(8n) modulo the polynomial: what n bytes of zeros multiply a checksum by.
    private static func power(ofZeroBytes count: Int) -> UInt32 {
        var power: UInt32 = 1 << 31
        var rest = count
        // x^(2^32 - 1) is 1, so the powers of 2 come again after 32.
        var exponent = 3
        while rest != 0 {
            if rest & 1 != 0 { power = product(powersOfX[exponent & 31], power) }
            rest >>= 1
            exponent += 1
        }
        return power
    }

    private static func product(_ left: UInt32, _ right: UInt32) -> UInt32 {
        var (product, right, bit): (UInt32, UInt32, UInt32) = (0, right, 1 << 31)
        while bit != 0 {
            if left & bit != 0 { product ^= right }
            bit >>= 1
            right = right & 1 == 0 ? right >> 1 : right >> 1 ^ polynomial
        }
        return product
    }
}

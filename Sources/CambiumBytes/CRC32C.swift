internal import CMachine

/// The checksum CRC-32C, which iSCSI (RFC 3720, appendix B.4) and ext4 also use.
public enum CRC32C {
    /// Returns the checksum of bytes. `previous` is the checksum of the bytes that precede them, or 0 if no bytes precede them.
    public static func checksum(_ bytes: UnsafeRawBufferPointer, from previous: UInt32 = 0) -> UInt32 {
        cmachine_crc32c(previous, bytes.baseAddress, bytes.count)
    }

    public static func checksum(_ bytes: [UInt8], from previous: UInt32 = 0) -> UInt32 {
        bytes.withUnsafeBytes { checksum($0, from: previous) }
    }

    /// Returns the checksum of the bytes, computed without the processor's CRC instruction. Tests compare this checksum with the result of
    /// `checksum`.
    static func portableChecksum(_ bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBytes { cmachine_crc32c_portable(0, $0.baseAddress, $0.count) }
    }
}

/// Combining the checksums of parts.
extension CRC32C {
    /// Returns the checksum of two sequences of bytes that follow each other. `first` and `second` are the checksums of the sequences, and
    /// `secondByteCount` is the length of the second sequence.
    ///
    /// Complexity: O(log bytes). Source: M. Adler's `crc32_combine` in zlib.
    public static func combined(_ first: UInt32, _ second: UInt32, secondByteCount: Int) -> UInt32 {
        product(power(ofZeroBytes: secondByteCount), first) ^ second
    }

    private static let polynomial: UInt32 = 0x82F6_3B78

    /// The number of different values of x^(2^k) modulo the polynomial. The values repeat after 31 steps of k, because x^(2^31 - 1) is 1
    /// modulo the polynomial. The source, zlib, uses 32 steps, because it has another polynomial.
    private static let period = 31

    /// The numbers x^(2^k) modulo the polynomial of CRC-32C, for k from 0 to 30. The highest bit is the coefficient of x^0.
    private static let powersOfX: [UInt32] = {
        var powers: [UInt32] = [1 << 30]
        while powers.count < period { powers.append(product(powers[powers.count - 1], powers[powers.count - 1])) }
        return powers
    }()

    /// Returns x^(8n) modulo the polynomial. A checksum is multiplied by this factor if n zero bytes follow.
    private static func power(ofZeroBytes count: Int) -> UInt32 {
        var power: UInt32 = 1 << 31
        var rest = count
        var exponent = 3
        while rest != 0 {
            if rest & 1 != 0 { power = product(powersOfX[exponent % period], power) }
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

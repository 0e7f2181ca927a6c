import CambiumTesting
import Testing

@testable import CambiumBytes

@Suite struct `Checksums and hashes` {
    /// Source: RFC 3720, appendix B.4, and the check value of the catalog of CRCs.
    static let answers: [([UInt8], UInt32)] = [
        ([], 0),
        ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
        ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
        (Array(0...31), 0x46DD_794E),
        (Array((0...31).reversed()), 0x113F_DB5C),
        (
            [
                0x01, 0xC0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0x14, 0, 0, 0, 0x18,
                0x28, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0,
            ], 0xD996_3A56
        ),
        (Array("123456789".utf8), 0xE306_9283),
    ]

    @Test(arguments: answers)
    func `CRC-32C produces the values of RFC 3720`(_ bytes: [UInt8], _ checksum: UInt32) {
        #expect(CRC32C.checksum(bytes) == checksum)
        #expect(CRC32C.portableChecksum(bytes) == checksum)
    }

    @Test func `the portable checksum and the processor's agree at every length`() {
        var random = SplitMix64(for: "CRC-32C")
        let bytes = random.bytes(600)
        for count in 0...600 {
            let part = Array(bytes.suffix(count))
            #expect(CRC32C.checksum(part) == CRC32C.portableChecksum(part))
        }
    }

    @Test func `checksums of parts are combined at every length, also beyond 512 MiB`() {
        let first = CRC32C.checksum(Array("cambium".utf8))
        var (zeros, byteCount) = (CRC32C.checksum([UInt8](repeating: 0, count: 1 << 10)), 1 << 10)
        let whole = CRC32C.checksum([UInt8](repeating: 0, count: byteCount), from: first)
        #expect(CRC32C.combined(first, zeros, secondByteCount: byteCount) == whole)
        while byteCount < 1 << 40 {
            let twice = CRC32C.combined(CRC32C.combined(first, zeros, secondByteCount: byteCount), zeros, secondByteCount: byteCount)
            zeros = CRC32C.combined(zeros, zeros, secondByteCount: byteCount)
            byteCount *= 2
            #expect(CRC32C.combined(first, zeros, secondByteCount: byteCount) == twice, "\(byteCount) bytes")
        }
    }

    @Test(arguments: 0...40)
    func `a checksum continues from the checksum of the preceding bytes`(_ cut: Int) {
        let bytes = (0..<40).map { UInt8($0 * 7 % 256) }
        let first = CRC32C.checksum(Array(bytes[..<cut]))
        #expect(CRC32C.checksum(Array(bytes[cut...]), from: first) == CRC32C.checksum(bytes))
    }

    @Test func `every flipped bit changes the checksum`() {
        let bytes = (0..<64).map { UInt8($0) }
        for bit in 0..<512 {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << (bit % 8)
            #expect(CRC32C.checksum(flipped) != CRC32C.checksum(bytes))
        }
    }

    /// The buffer of xxHash's own sanity check.
    static let sample: [UInt8] = {
        var generator: UInt64 = 2_654_435_761
        return (0..<2367).map { _ in
            defer { generator &*= 11_400_714_785_074_694_797 }
            return UInt8(generator >> 56)
        }
    }()

    /// Lengths that reach all paths of the algorithm. Source: the sanity check of xxHash 0.8.
    @Test(arguments: [
        (0, UInt64(0x2D06_8005_38D3_94C2)), (1, 0xC44B_DFF4_074E_ECDB), (6, 0x27B5_6A84_CD2D_7325), (12, 0xA713_DAF0_DFBB_77E7),
        (24, 0xA3FE_70BF_9D35_10EB), (48, 0x397D_A259_ECBA_1F11), (80, 0xBCDE_FBBB_2C47_C90A), (195, 0xCD94_217E_E362_EC3A),
        (403, 0xCDEB_804D_65C6_DEA4), (512, 0x617E_4959_9013_CB6B), (2048, 0xDD59_E2C3_A5F0_38E0), (2240, 0x6E73_A905_39CF_2948),
        (2367, 0xCB37_AEB9_E5D3_61ED),
    ])
    func `XXH3 of 64 bits produces the values of xxHash`(_ count: Int, _ hash: UInt64) {
        Self.sample.withUnsafeBytes { #expect(XXH3.hash64(.init(rebasing: $0[..<count]), seed: 0) == hash) }
    }

    @Test(arguments: [
        ("", UInt64(0x99AA_06D3_0147_98D8), UInt64(0x6001_C324_468D_497F)), ("a", 0xA96F_AF70_5AF1_6834, 0xE6C6_32B6_1E96_4E1F),
        ("abc", 0x06B0_5AB6_733A_6185, 0x78AF_5F94_892F_3950),
    ])
    func `XXH3 of 128 bits produces the values of xxHash`(_ text: String, _ high: UInt64, _ low: UInt64) {
        Array(text.utf8).withUnsafeBytes {
            let hash = XXH3.hash128($0, seed: 0)
            #expect(hash.high == high)
            #expect(hash.low == low)
        }
    }

    @Test func `the seed changes both hashes`() {
        Self.sample.withUnsafeBytes { bytes in
            #expect(Set((0..<100).map { XXH3.hash64(bytes, seed: $0) }).count == 100)
            #expect(Set((0..<100).map { XXH3.hash128(bytes, seed: $0).high }).count == 100)
        }
    }
}

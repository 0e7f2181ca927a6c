import CambiumBytes
import Testing

@Suite struct SipHashTests {
    /// The hashes under a key of zeros. Source: `hash()` of CPython 3.13 with PYTHONHASHSEED=0, which is SipHash-1-3.
    @Test(arguments: [
        ("abc", UInt64(13_851_880_170_939_887_858)), ("abcdefgh", 4_574_395_652_268_504_554),
        ("Hello, World! 123", 6_812_326_396_934_975_131),
    ])
    func `hashes equal those of another implementation`(text: String, hash: UInt64) {
        #expect(Array(text.utf8).withUnsafeBytes { SipHash.hash13($0, key: 0, 0) } == hash)
    }

    /// The hashes of the first 1, 2, 3 ... bytes of a text. Source: CPython 3.11, as above.
    private static let prefixHashes: [UInt64] = [
        0x971D_5CAA_766A_69D7, 0x478F_015B_832C_0FB2, 0x5C12_0AFC_DE60_38A5, 0x6052_8613_804D_66F5, 0x6CD1_7A65_AC05_69EF,
        0x6598_265D_3639_61E3, 0xFAE2_AE7A_7F51_C7D6, 0xCF65_9F68_C702_0D94, 0x2EB4_FCDF_94BD_2122, 0xBDCB_E417_E9AD_9CF9,
        0x5D1D_6794_C66F_7580, 0xC196_62E3_2B8C_2A13, 0x6634_86F2_A225_5563, 0x0073_6FAB_04E4_D5EF, 0x93D5_0BE9_C01C_EA41,
        0x4C5F_1FBF_D34B_73EE, 0xC88F_757D_2812_3CC5, 0x00B9_A62C_9754_5351, 0x975E_4107_1456_8333, 0x1D06_D850_35D7_6A20,
        0x89BD_BB67_D010_5380, 0x6408_EFF5_7188_B28A, 0x70C2_908E_7E67_D75D, 0x9F7E_7529_17E2_7523,
    ]

    @Test func `bytes of each length have the hash of another implementation`() {
        let text = Array("The quick brown fox jumps".utf8)
        let hashes = (1...24).map { count in text[..<count].withUnsafeBytes { SipHash.hash13($0, key: 0, 0) } }
        #expect(hashes == Self.prefixHashes)
    }

    @Test func `each half of the key and the length change the hash`() {
        let keys: [(UInt64, UInt64)] = [(0, 0), (1, 0), (0, 1), (1 << 63, 0), (0, 1 << 63)]
        var seen = Set<UInt64>()
        for count in 0..<20 {
            let bytes = [UInt8](repeating: 0, count: count)
            for (low, high) in keys { seen.insert(bytes.withUnsafeBytes { SipHash.hash13($0, key: low, high) }) }
        }
        #expect(seen.count == 100)
    }
}

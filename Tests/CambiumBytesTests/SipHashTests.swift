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

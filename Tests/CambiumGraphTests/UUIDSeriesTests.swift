import CambiumTesting
import Testing

@testable import CambiumGraph

/// Keys of 16 bytes that contain their position in a series.
@Suite struct UUIDSeriesTests {
    private let high: UInt64 = 0x1234_5678_9ABC_DE80

    private func hashes(_ bitCount: UInt64, _ numbers: [UInt64], secret: UInt8 = 1) -> [UInt64] {
        let first = UUIDSeries.tagged(0xFEDC_4A98_7654_3210, bitCount: bitCount)
        let key = OwnedHashNumbers(HashNumbers(HashKey(secret: [secret])))
        return withExtendedLifetime(key) { numbers.map { key.hasher.hash(first | $0, high) } }
    }

    @Test(arguments: [UInt64(1), 12, 21, 22, 23, 24])
    func `numbers are evenly spaced under any key`(bitCount: UInt64) {
        let numbers = Array(0..<min(UInt64(1) << bitCount, 4096))
        for secret in UInt8(0)..<5 {
            let hashes = hashes(bitCount, numbers, secret: secret)
            let expected = numbers.map { (hashes[0] &+ $0 << (64 - bitCount)) >> 43 }
            #expect(hashes.map { $0 >> 43 } == expected)
        }
    }

    @Test(arguments: [UInt64(6), 12, 21, 22, 23, 24])
    func `neighbors lie in all blocks of a bucket`(bitCount: UInt64) {
        var counts = [Int](repeating: 0, count: Bucket.blockCount)
        for hash in hashes(bitCount, Array(0..<64)) { counts[Int(Bucket.fragment(hash)) % Bucket.blockCount] += 1 }
        #expect(counts.allSatisfy { (4...12).contains($0) })
    }

    @Test func `keys that name no series and plain numbers have distinct hashes`() {
        let others = [UInt64(0), 25, 31].flatMap { hashes($0, [0, 1, 2, 3]) }
        let key = OwnedHashNumbers(HashNumbers(HashKey(secret: [1])))
        let numbers = withExtendedLifetime(key) { (UInt64(0)..<4).map { key.hasher.hash(20 << 24 | $0, 0) } }
        #expect(Set((others + numbers).map { $0 >> 48 }).count == 16)
    }
}

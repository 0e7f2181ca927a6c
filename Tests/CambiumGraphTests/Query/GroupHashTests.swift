import CMachine
import Testing

@testable import CambiumGraph

/// The hashes of the keys of groups.
@Suite struct GroupHashTests {
    /// Returns the low word of keys whose hash would be 0 without a secret. The tags are those of UUIDs, and of texts of 8 and 16 bytes.
    private static func chosenLow(tag: UInt64) -> UInt64 { (tag &- UInt64(CMACHINE_TEXT_TAG)) &* 0xD6E8_FEB8_6659_FD93 }

    @Test(arguments: [2, 12, 20] as [UInt64])
    func `keys that would have the same hash without a secret have different hashes`(tag: UInt64) {
        let seed = cmachine_seed(low: GroupTable.seed.low, high: GroupTable.seed.high)
        let hashes = (0..<1000 as Range<UInt64>).map { number in
            cmachine_key_hash(cmachine_key(low: Self.chosenLow(tag: tag), high: number << 20, tag: tag), seed)
        }
        #expect(Set(hashes).count > 990)
    }
}

import CMachine
import Testing

@testable import CambiumGraph

/// The hashes of the keys of groups.
@Suite struct GroupHashTests {
    /// The first halves of UUIDs, and the halves of texts of 8 to 16 bytes, for which a hash without a secret is 0.
    private static func chosenLow(tag: UInt64) -> UInt64 { (tag &- UInt64(CMACHINE_TEXT_TAG)) &* 0xD6E8_FEB8_6659_FD93 }

    @Test(arguments: [2, 12, 20] as [UInt64]) func `keys that are chosen to have one hash have different hashes`(tag: UInt64) {
        let seed = cmachine_seed(low: GroupTable.seed.low, high: GroupTable.seed.high)
        let hashes = (0..<1000 as Range<UInt64>).map { number in
            cmachine_key_hash(cmachine_key(low: Self.chosenLow(tag: tag), high: number << 20, tag: tag), seed)
        }
        #expect(Set(hashes).count > 990)
    }
}

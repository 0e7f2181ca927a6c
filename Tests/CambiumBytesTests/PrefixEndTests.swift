import CambiumBytes
import Testing

@Suite struct PrefixEndTests {
    @Test func `the end of a prefix is found with a logarithmic number of calls`() {
        for count in 0...70 {
            for end in 0...count {
                var callCount = 0
                let found = (3..<3 + count).prefixEnd { number in
                    callCount += 1
                    return number < 3 + end
                }
                #expect(found == 3 + end && callCount <= Int.bitWidth - count.leadingZeroBitCount)
            }
        }
        let end = UInt64.max - 2
        #expect((end - 3..<UInt64.max).prefixEnd { $0 < end } == end)
    }

    @Test func `an error of the condition ends the search`() {
        struct Stop: Error {}
        #expect(throws: Stop.self) { try (0..<9).prefixEnd { _ throws(Stop) in throw Stop() } }
    }
}

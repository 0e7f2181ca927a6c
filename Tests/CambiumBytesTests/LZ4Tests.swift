import CambiumBytes
import CambiumTesting
import Testing

@Suite struct `LZ4 blocks and the search for bytes` {
    private static func compress(_ bytes: [UInt8]) -> [UInt8]? { bytes.withUnsafeBytes { LZ4.compress($0) } }

    private static func decompress(_ block: [UInt8], byteCount: Int) -> [UInt8]? {
        block.withUnsafeBytes { LZ4.decompress($0, byteCount: byteCount) }
    }

    private static let sample = Array(String(repeating: "segment, frame, checkpoint; ", count: 50).utf8)

    @Test(arguments: [17, 18, 63, 64, 65, 1000, 65_536, 1_000_000])
    func `repeated bytes are compressed and restored`(_ count: Int) throws {
        let bytes = (0..<count).map { UInt8($0 % 3) }
        let block = try #require(Self.compress(bytes))
        #expect(block.count < count)
        #expect(Self.decompress(block, byteCount: count) == bytes)
    }

    @Test(arguments: 0...16)
    func `a few bytes are not compressed`(_ count: Int) {
        #expect(Self.compress([UInt8](repeating: 0, count: count)) == nil)
    }

    @Test func `bytes that do not shrink are not compressed`() {
        var random = SplitMix64(for: "random bytes for LZ4")
        for count in [17, 100, 5000] { #expect(Self.compress(random.bytes(count)) == nil) }
    }

    /// A block that was written by hand from the description of the format: 5 literals, a match of 10 at distance 5, and 5 last literals.
    @Test func `a block written by hand is read`() {
        let block: [UInt8] = [0x56] + Array("abcde".utf8) + [5, 0, 0x50] + Array("vwxyz".utf8)
        #expect(Self.decompress(block, byteCount: 20) == Array("abcdeabcdeabcdevwxyz".utf8))
    }

    @Test func `a wrong length is refused`() throws {
        let block = try #require(Self.compress(Self.sample))
        for count in [0, 1, Self.sample.count - 1, Self.sample.count + 1, 2 * Self.sample.count] {
            #expect(Self.decompress(block, byteCount: count) == nil)
        }
    }

    @Test func `a truncated block is refused at every length`() throws {
        let block = try #require(Self.compress(Self.sample))
        for count in 0..<block.count {
            #expect(Self.decompress(Array(block[..<count]), byteCount: Self.sample.count) == nil)
        }
    }

    @Test func `corrupt blocks are refused or give the requested number of bytes`() throws {
        var random = SplitMix64(for: "corrupted LZ4 blocks")
        let block = try #require(Self.compress(Self.sample))
        for _ in 0..<5000 {
            var corrupt = block
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                corrupt[Int.random(in: 0..<corrupt.count, using: &random)] = UInt8(truncatingIfNeeded: random.next())
            }
            let result = Self.decompress(corrupt, byteCount: Self.sample.count)
            #expect(result == nil || result?.count == Self.sample.count)
        }
    }

    @Test func `random bytes are refused or decompressed`() {
        var random = SplitMix64(for: "random LZ4 blocks")
        for _ in 0..<5000 {
            let byteCount = Int.random(in: 0...300, using: &random)
            let block = random.bytes(Int.random(in: 0...60, using: &random))
            let result = Self.decompress(block, byteCount: byteCount)
            #expect(result == nil || result?.count == byteCount)
        }
    }

    @Test func `a length above the limit of a block is refused`() {
        #expect(Self.decompress([0], byteCount: LZ4.byteCountMax + 1) == nil)
    }

    // MARK: Searching

    @Test func `the search finds the same first byte as a loop`() {
        var random = SplitMix64(for: "searching bytes")
        let bytes = random.bytes(80).map { $0 % 8 }
        for start in 0...80 {
            for end in start...80 {
                let expected = bytes[start..<end].firstIndex(of: 3)
                let found = bytes.withUnsafeBytes { ByteSearch.firstIndex(of: 3, in: $0, from: start, to: end) }
                #expect(found == expected)
            }
        }
    }

    @Test func `bytes are all equal to a byte only if each of them is`() {
        for count in 0...40 {
            let bytes = [UInt8](repeating: 7, count: count)
            #expect(bytes.withUnsafeBytes { ByteSearch.areAll(7, $0) })
            #expect(bytes.withUnsafeBytes { ByteSearch.areAll(6, $0) } == (count == 0))
            for index in bytes.indices {
                var changed = bytes
                changed[index] = 6
                #expect(!changed.withUnsafeBytes { ByteSearch.areAll(7, $0) })
            }
        }
        #expect(ByteSearch.areAll(7, .init(start: nil, count: 0)))
    }

    @Test func `the search finds nothing in an empty range`() {
        #expect(ByteSearch.firstIndex(of: 0, in: .init(start: nil, count: 0), from: 0, to: 0) == nil)
        let bytes: [UInt8] = [1, 2, 3]
        bytes.withUnsafeBytes {
            #expect(ByteSearch.firstIndex(of: 2, in: $0, from: 2, to: 1) == nil)
            #expect(ByteSearch.firstIndex(of: 3, in: $0, from: 0, to: 2) == nil)
        }
    }
}

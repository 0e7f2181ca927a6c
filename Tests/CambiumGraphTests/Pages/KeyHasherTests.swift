import CambiumBytes
import CambiumTesting
import Testing

@testable import CambiumGraph

/// The hashes of texts and data in hash indexes.
@Suite struct KeyHasherTests {
    private let numbers = HashNumbers(HashKey(secret: [1]))

    private func hash(_ bytes: [UInt8], after before: UInt64 = 0, _ numbers: HashNumbers? = nil) -> UInt64 {
        let owned = OwnedHashNumbers(numbers ?? self.numbers)
        return withExtendedLifetime(owned) { bytes.withUnsafeBytes { owned.hasher.hash($0, after: before) } }
    }

    /// Computes the hash of at most 64 bytes one byte at a time, by the formula of decision 28.
    private func expectedHash(_ bytes: [UInt8], after before: UInt64) -> UInt64 {
        func word(_ offset: Int, _ count: Int) -> UInt64 { (0..<count).reduce(0) { $0 | UInt64(bytes[offset + $1]) << (8 * $1) } }
        let count = bytes.count
        var words: (UInt64, UInt64) = (0, 0)
        switch count {
        case 0: break
        case 1...3: words = (UInt64(bytes[0]) | UInt64(bytes[count / 2]) << 8, UInt64(bytes[count - 1]))
        case 4...7: words = (word(0, 4), word(count - 4, 4))
        case 8...15: words = (word(0, 8), word(count - 8, 8))
        default:
            let secrets = [numbers.pairs.0, numbers.pairs.1, numbers.pairs.2, numbers.pairs.3]
            let offsets = [count - 16] + stride(from: 0, to: count - 16, by: 16)
            let sum = zip(offsets, secrets).reduce(UInt128(0)) { sum, pair in
                let (first, second) = (word(pair.0, 8) &+ pair.1.x, word(pair.0 + 8, 8) &+ pair.1.y)
                return sum &+ UInt128(first) * UInt128(second)
            }
            words = (UInt64(truncatingIfNeeded: sum), UInt64(sum >> 64))
        }
        let key = numbers.key
        let products = [(words.0, key.low), (words.1, key.high), (before ^ UInt64(count), key.before)]
        let sum = products.reduce(key.offset) { $0 &+ UInt128($1.0) &* $1.1 }
        return Mixing.mixed(UInt64(sum >> 64))
    }

    @Test func `the hash of at most 64 bytes follows the formula`() {
        var random = SplitMix64(seed: 1)
        for count in 0...64 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            let before = count % 2 == 0 ? 0 : UInt64.random(in: 0 ... .max, using: &random)
            #expect(hash(bytes, after: before) == expectedHash(bytes, after: before), "\(count) bytes")
        }
    }

    @Test func `values that differ in one byte or in their length have distinct hashes`() {
        var (hashes, valueCount) = (Set<UInt64>(), 0)
        for count in 0...80 {
            let zeros = [UInt8](repeating: 0, count: count)
            hashes.insert(hash(zeros))
            for place in 0..<count {
                var bytes = zeros
                bytes[place] = 1
                hashes.insert(hash(bytes))
            }
            valueCount += count + 1
        }
        #expect(hashes.count == valueCount)
    }

    @Test(arguments: [7, 12, 36, 64, 65])
    func `the hash depends on the secret and on the values before`(count: Int) {
        let bytes = [UInt8](repeating: 7, count: count)
        #expect(Set([hash(bytes), hash(bytes, after: 1), hash(bytes, HashNumbers(HashKey(secret: [2])))]).count == 3)
    }

    @Test(arguments: ["", "a text of 20 bytes: ", "a text that is longer, and that has just 50 bytes: "])
    func `texts that end with consecutive numbers are spread evenly`(prefix: String) {
        var counts = [Int](repeating: 0, count: 64)
        for number in 0..<10_000 { counts[Int(hash(Array("\(prefix)\(10_000 + number)".utf8)) >> 58)] += 1 }
        // Each of the 64 parts of the range of hashes is expected to have 156 texts, with a standard deviation of 12.
        #expect(counts.allSatisfy { (100...220).contains($0) })
    }
}

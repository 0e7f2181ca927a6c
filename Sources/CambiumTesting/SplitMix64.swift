/// A generator of random numbers for tests. The same seed results in the same numbers on any machine.
///
///     var random = SplitMix64(seed: 42)
///     let die = Int.random(in: 1...6, using: &random)
///
/// Source: G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014, with the mixing function of S.
/// Vigna's `splitmix64.c`. Not cryptographic.
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    /// Creates a generator for the tests of `purpose`, and prints its seed. To repeat a failure, set the seed in `CAMBIUM_TEST`.
    package init(for purpose: String) {
        let seed = TestSettings.seed ?? UInt64.random(in: .min ... .max)
        self.init(seed: seed)
        print("\(purpose): CAMBIUM_TEST=seed=\(seed)")
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// Returns `true` with a probability of `numerator` / `denominator`.
    package mutating func isTrue(_ numerator: Int, outOf denominator: Int) -> Bool {
        Int.random(in: 0..<denominator, using: &self) < numerator
    }

    /// Returns one of the elements, or `nil` if there are none.
    package mutating func pick<C: RandomAccessCollection>(_ elements: C) -> C.Element? {
        elements.randomElement(using: &self)
    }

    package mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }
}

import Glibc

/// Returns the seconds since some fixed moment, from a monotonic clock.
func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}

/// Runs `body`. Returns its duration in seconds and its result.
func timed<Result>(_ body: () throws -> Result) rethrows -> (seconds: Double, result: Result) {
    let start = now()
    let result = try body()
    return (now() - start, result)
}

/// The random generator SplitMix64, which the benchmarks of other databases use, too.
struct SplitMix {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int(next().multipliedFullWidth(by: UInt64(bound)).high) }

    /// Returns `count` different elements, or all elements if there are fewer.
    mutating func draw<Element>(_ count: Int, from elements: [Element]) -> [Element] {
        var drawn = elements
        let count = min(count, elements.count)
        for index in 0..<count { drawn.swapAt(index, index + below(drawn.count - index)) }
        return Array(drawn[..<count])
    }

    /// Returns `count` elements, each drawn from all elements.
    mutating func sample<Element>(_ count: Int, of elements: [Element]) -> [Element] {
        (0..<count).map { _ in elements[below(elements.count)] }
    }
}

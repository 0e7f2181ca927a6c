import Glibc

/// Seconds since some moment, of a clock that never goes back.
func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}

/// How long `body` took, in seconds, and what it returned.
func timed<Result>(_ body: () throws -> Result) rethrows -> (seconds: Double, result: Result) {
    let start = now()
    let result = try body()
    return (now() - start, result)
}

/// The generator that the other programs use: splitmix64.
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

    /// As many elements as asked for, or all where there are fewer, none of them twice.
    mutating func draw<Element>(_ count: Int, from elements: [Element]) -> [Element] {
        var drawn = elements
        let count = min(count, elements.count)
        for index in 0..<count { drawn.swapAt(index, index + below(drawn.count - index)) }
        return Array(drawn[..<count])
    }

    /// As many elements as asked for, each drawn from all.
    mutating func sample<Element>(_ count: Int, of elements: [Element]) -> [Element] {
        (0..<count).map { _ in elements[below(elements.count)] }
    }
}

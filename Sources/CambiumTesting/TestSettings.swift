import CambiumBytes
import Glibc

/// The settings of a run of the tests: the words of the variable `CAMBIUM_TEST`, such as `seed=7 programs=100 long`. If a name occurs
/// twice, its last value counts.
package enum TestSettings {
    /// The names that `CAMBIUM_TEST` may contain. The scripts read the ones of the last line.
    private static let names = [
        "seed", "programs", "stores", "simulations", "kills", "forgeries", "days", "chain", "clone", "checkpoints", "percent", "long",
        "small-pages", "sanitizer", "write",
        "attacks", "queries", "silent", "verbose",
    ]

    private static let values: [String: String] = {
        let words = getenv("CAMBIUM_TEST").map { String(cString: $0) }?.split(separator: " ") ?? []
        var values: [String: String] = [:]
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            guard names.contains(parts[0]) else {
                Trap.because("CAMBIUM_TEST contains '\(word)'. The names are \(names.joined(separator: ", ")).")
            }
            values[parts[0]] = parts.count == 2 ? parts[1] : ""
        }
        return values
    }()

    /// Returns the value of a name, which is empty if the name has none; `nil` if `CAMBIUM_TEST` lacks the name.
    package static func value(_ name: String) -> String? { values[name] }

    /// Returns the number after `name=`; `nil` if `CAMBIUM_TEST` lacks the name. Stops the tests if the value is not a number.
    package static func number(_ name: String) -> Int? {
        guard let value = values[name] else { return nil }
        guard let number = Int(value) else { Trap.because("CAMBIUM_TEST has '\(name)=\(value)', which is not a number.") }
        return number
    }

    /// The first seed of random tests; `nil` if `CAMBIUM_TEST` lacks it.
    package static var seed: UInt64? {
        guard let value = values["seed"] else { return nil }
        guard let seed = UInt64(value) else { Trap.because("CAMBIUM_TEST has 'seed=\(value)', which is not a number.") }
        return seed
    }

    /// Returns the seeds of a random test.
    ///
    /// - Parameters:
    ///   - name: the name of the number of seeds in `CAMBIUM_TEST`.
    ///   - usual: the number of seeds if `CAMBIUM_TEST` lacks the name.
    ///   - first: the first seed if `CAMBIUM_TEST` lacks one.
    package static func seeds(_ name: String, usual: Int, from first: UInt64 = 1) -> Range<UInt64> {
        let first = seed ?? first
        return first..<first + UInt64(number(name) ?? usual)
    }
}

/// Whether tests that take more than two seconds run. `script/check` sets the word `long` to run them.
///
///     @Test(.enabled(if: LongTests.areWanted)) func `a crash at any of ten thousand operations loses nothing`() throws { ... }
package enum LongTests {
    package static let areWanted = TestSettings.value("long") != nil

    /// The percentage of the random cases that the long tests try.
    private static let casePercent = TestSettings.number("percent") ?? 100

    /// Returns the number of random cases to try: `usual` in a fast test, and otherwise a percentage of `count`.
    package static func caseCount(_ count: Int, usual: Int) -> Int { areWanted ? max(1, count * casePercent / 100) : usual }

    /// Returns the cases of a parametrized test that are tried: all in a long test, and otherwise every fourth.
    package static func some<Case>(of cases: [Case]) -> [Case] {
        areWanted ? cases : stride(from: 0, to: cases.count, by: 4).map { cases[$0] }
    }
}

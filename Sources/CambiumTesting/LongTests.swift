import Glibc

/// Whether tests that take more than two seconds run. `script/check` sets the variable `CAMBIUM_LONG_TESTS` to run them.
///
///     @Test(.enabled(if: LongTests.areWanted)) func `a crash at any of ten thousand operations loses nothing`() throws { ... }
package enum LongTests {
    package static let areWanted = getenv("CAMBIUM_LONG_TESTS") != nil

    /// The percentage of the random cases that the long tests try: the value of `CAMBIUM_CASE_PERCENT`, or 100.
    private static let casePercent = getenv("CAMBIUM_CASE_PERCENT").flatMap { Int(String(cString: $0)) } ?? 100

    /// Returns the number of random cases to try: `usual` in a fast test, and otherwise a percentage of `count`.
    package static func caseCount(_ count: Int, usual: Int) -> Int { areWanted ? max(1, count * casePercent / 100) : usual }

    /// Returns the cases of a parametrized test that are tried: all in a long test, and otherwise every fourth.
    package static func some<Case>(of cases: [Case]) -> [Case] {
        areWanted ? cases : stride(from: 0, to: cases.count, by: 4).map { cases[$0] }
    }
}

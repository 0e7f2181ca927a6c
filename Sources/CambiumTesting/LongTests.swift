#if canImport(Glibc)
    import Glibc
#endif

/// Whether tests that take more than two seconds run. `script/check` sets the variable `CAMBIUM_LONG_TESTS` to run them.
///
///     @Test(.enabled(if: LongTests.areWanted)) func `a crash at any of ten thousand operations loses nothing`() throws { ... }
package enum LongTests {
    package static let areWanted = getenv("CAMBIUM_LONG_TESTS") != nil
}

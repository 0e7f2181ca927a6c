#if canImport(Glibc)
    import Glibc
#endif

/// Tests that take over two seconds run only if `CAMBIUM_LONG_TESTS` is set. `script/check` sets it.
///
///     @Test(.enabled(if: LongTests.areWanted)) func `a crash at any of ten thousand operations loses nothing`() throws { ... }
package enum LongTests {
    package static let areWanted = getenv("CAMBIUM_LONG_TESTS") != nil
}

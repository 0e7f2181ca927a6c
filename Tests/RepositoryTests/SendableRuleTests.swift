import Testing

struct SendableRuleTests {
    @Test func `every unchecked Sendable has its reason above it`() throws {
        let files = try Repository.current.texts(in: ["Sources", "Tests", "Benchmarks"], suffix: ".swift")
        #expect(!files.isEmpty)
        expectNone(files.flatMap(SendableRule().violations))
    }

    @Test(arguments: [(11, 0), (12, 1), (40, 1)])
    func `a reason more than 12 lines above does not count`(lineCountBetween: Int, violationCount: Int) {
        let gap = String(repeating: "\n", count: lineCountBetween)
        let file = TextFile(path: "Sources/A/B.swift", text: "// SENDABLE: locked.\n\(gap)final class B: \(SendableRule.claim) {}\n")
        #expect(SendableRule().violations(in: file).count == violationCount)
    }

    @Test func `a claim without a reason, or with the reason below it, is found`() {
        let file = TextFile(path: "Sources/A/B.swift", text: "final class B: \(SendableRule.claim) {}\n// SENDABLE: late.\n")
        #expect(SendableRule().violations(in: file).map(\.line) == [1])
    }
}

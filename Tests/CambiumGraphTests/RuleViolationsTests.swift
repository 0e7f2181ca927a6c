import Testing

@testable import CambiumGraph

struct RuleViolationsTests {
    @Test func `the first violations are of each rule, even if many sub-entities inherit one of them`() {
        var missing: [Violation] = []
        for name in ["a", "b"] {
            for serial in 1...50 {
                missing.append(Violation(object: "Child\((serial + 1) / 2)/\(serial)", rule: .mandatoryAttribute(name)))
            }
        }
        let denied = Violation(object: "Other/1", rule: .deleteDenied(relationship: "items", by: "Item/1"))
        let causes = RuleViolations(violations: missing + [denied]).causes
        #expect(Array(causes.prefix(3)) == [missing[0], missing[50], denied])
        // The first violation of each other entity follows.
        #expect(causes[3] == missing[2] && causes[50] == missing[98] && causes[51] == missing[1])
        #expect(Set(causes) == Set(missing + [denied]) && causes.count == 101)
    }

    @Test func `violations that one message can show keep their order`() {
        let missing = (1...20).map { Violation(object: "Note/\($0)", rule: .mandatoryAttribute($0 < 20 ? "a" : "b")) }
        #expect(RuleViolations(violations: missing).causes == missing)
    }
}

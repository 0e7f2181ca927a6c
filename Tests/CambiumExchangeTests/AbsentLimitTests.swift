import Testing

@testable import CambiumExchange

@Suite struct AbsentLimitTests {
    @Test(arguments: [
        (0.57, 10_000, 57), (0.07, 10_000, 7), (1.1, 1000, 11), (50, 3, 1), (0, 5, 0), (100, 7, 7), (1e-5, 10_000_000, 1),
        (33.333333333333336, Int.max, 3_074_457_345_618_258_848),
    ])
    func `a percentage is exceeded by one object more than its exact part`(percent: Double, all: Int, count: Int) {
        #expect(!AbsentLimit.percent(percent).isExceeded(by: count, of: all))
        #expect(AbsentLimit.percent(percent).isExceeded(by: count + 1, of: all))
    }

    @Test func `any object exceeds a percentage that is almost zero`() {
        #expect(!AbsentLimit.percent(.leastNonzeroMagnitude).isExceeded(by: 0, of: 10))
        #expect(AbsentLimit.percent(.leastNonzeroMagnitude).isExceeded(by: 1, of: 10))
        #expect(AbsentLimit.percent(.leastNonzeroMagnitude).isExceeded(by: 1, of: Int.max))
    }
}

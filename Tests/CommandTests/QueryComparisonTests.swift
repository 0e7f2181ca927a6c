import CambiumTesting
import Foundation
import Testing

/// Random queries, whose answers are compared with those of SQLite. Tests/python/compare_queries.py describes the comparison.
@Suite struct QueryComparisonTests {
    private func compare(seed: UInt64, count: Int, people: Int) throws -> Workplace.Outcome {
        let place = try Workplace()
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let script = tests.appending(path: "python/compare_queries.py").path
        let runner = Workplace.binary.deletingLastPathComponent().appending(path: "QueryRunner").path
        let arguments = ["python3", script, runner, place.directory.path, "\(seed)", "\(count)", "\(people)"]
        return try place.run(executable: URL(filePath: "/usr/bin/env"), arguments)
    }

    @Test func `random queries have the answers of SQLite`() throws {
        let outcome = try compare(seed: 1, count: 500, people: 60)
        #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
        #expect(outcome.output.contains(" answers compared with SQLite, 0 differences"))
    }
}

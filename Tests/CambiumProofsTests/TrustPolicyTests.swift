import CambiumModel
import Testing

@testable import CambiumProofs

@Suite struct TrustPolicyTests {
    private let log = SampleLog(20)
    private let witnesses = (1...5).map { try? Sample.key(UInt8(10 + $0), .witness, name: "w\($0)") }.compactMap { $0 }

    private func policy(_ rules: String) throws -> TrustPolicy {
        var text = "# A policy\n\n log \(try Sample.key(1).verifier)\thttps://example.com/\n"
        for (number, key) in witnesses.enumerated() { text += "witness W\(number + 1) \(key.verifier)\n" }
        return try TrustPolicy(parsing: Array((text + rules).utf8))
    }

    private func isAccepted(_ rules: String, by signers: Int...) throws -> Bool {
        let note = try Sample.checkpoint(log, 20, keys: [Sample.key(1)] + signers.map { witnesses[$0 - 1] })
        let policy = try policy(rules)
        do throws(CambiumError) {
            try policy.check(note)
            return true
        } catch {
            #expect(error.code == .notProved)
            return false
        }
    }

    @Test func `a checkpoint is accepted if enough witnesses of each group have cosigned it`() throws {
        let rules = "group X 2 W1 W2 W3\ngroup Y any W4 W5\ngroup all-of-it all X Y\nquorum all-of-it\n"
        #expect(try isAccepted(rules, by: 1, 3, 5) && isAccepted(rules, by: 1, 2, 3, 4, 5))
        #expect(try !isAccepted(rules, by: 1, 5) && !isAccepted(rules, by: 1, 2, 3) && !isAccepted(rules, by: 1, 1, 4))
        #expect(try isAccepted("quorum none\n") && isAccepted("quorum W2\n", by: 2) && !isAccepted("quorum W2\n", by: 1))
    }

    @Test(arguments: [
        "", "quorum W9\n", "quorum none\nquorum none\n", "quorum none", "group X 3 W1 W2\nquorum X\n", "group X 0 W1\nquorum X\n",
        "group X any\nquorum X\n", "group X any W1\ngroup Y any W1\nquorum Y\n", "group none any W1\nquorum none\n", "quorum none\r\n",
        "group X any X\nquorum X\n", "group X 01 W1\nquorum X\n", "hello\nquorum none\n", "group W1 any W2\nquorum none\n",
        "witness W6 example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k\nquorum none\n",
    ])
    func `a malformed policy is refused`(rules: String) {
        let error = #expect(throws: CambiumError.self) { try policy(rules) }
        #expect(error?.code == .invalidInput)
    }

    @Test func `a checkpoint of another origin, or with a wrong signature of a witness, is refused`() throws {
        let rules = "quorum none\n"
        let other = try Sample.checkpoint(log, 20, keys: [Sample.key(2)])
        #expect(throws: CambiumError.self) { try policy(rules).check(other) }
        var note = try Sample.checkpoint(log, 20, keys: [Sample.key(1)])
        note.add(witnesses[0], seconds: 5)
        try policy(rules).check(note)
        let head = try TreeHead(origin: "example.com/elsewhere", size: 20, root: log.root(20))
        #expect(throws: CambiumError.self) { try policy(rules).check(head.signed(with: [Sample.key(1)], seconds: 0)) }
        let lines = note.description.replacing("— w1 ", with: "— w2 ")
        try policy(rules).check(SignedNote(parsing: Array(lines.utf8)))  // A key that the policy does not know.
        let wrong = note.description.replacing("\n20\n", with: "\n19\n")
        #expect(throws: CambiumError.self) { try policy(rules).check(SignedNote(parsing: Array(wrong.utf8))) }
    }
}

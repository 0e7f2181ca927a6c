import CambiumTesting
import Foundation
import FuzzTargets
import Testing

@Suite struct FuzzCorpusTests {
    /// Tests/FuzzCorpus, the folder to which `script/fuzz` adds the inputs that it finds.
    private static let corpus = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(
        path: "FuzzCorpus")

    private static func inputs(_ target: String) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: corpus.appending(path: target), includingPropertiesForKeys: nil)
            .sorted { $0.path < $1.path }
    }

    @Test(arguments: FuzzTarget.all)
    func `earlier inputs of the fuzzer are refused or read without a crash`(target: FuzzTarget) throws {
        let inputs = try Self.inputs(target.name)
        #expect(inputs.count > 10)
        for number in stride(from: 0, to: inputs.count, by: LongTests.areWanted ? 1 : 12) {
            let input = inputs[number]
            let bytes = [UInt8](try Data(contentsOf: input))
            do { try target.run(bytes) } catch { Issue.record("\(target)/\(input.lastPathComponent): \(error)") }
        }
    }

    @Test(.enabled(if: LongTests.areWanted), arguments: FuzzTarget.all)
    func `output of the encoders does no harm, whole or cut anywhere`(target: FuzzTarget) throws {
        for seed in try target.seeds() {
            try target.run(seed)
            for count in stride(from: 0, to: seed.count, by: max(1, seed.count / 40)) { try target.run(Array(seed.prefix(count))) }
        }
    }

    @Test func `each directory of the corpus belongs to a target`() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.path)
        #expect(Set(names) == Set(FuzzTarget.all.map(\.name)))
    }
}

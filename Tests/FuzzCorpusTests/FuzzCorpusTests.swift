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

    @Test(.enabled(if: LongTests.areWanted))
    func `of 10,000 changed notes, proofs, requests, policies and keys, none is accepted for what it does not state`() throws {
        let target = try #require(FuzzTarget.named("proofs"))
        let seeds = try target.seeds()
        var random = SplitMix64(seed: 1)
        for number in 0..<10_000 {
            var input = seeds[number % seeds.count]
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 1..<input.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: input[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 1: input.remove(at: place)
                case 2: input.insert(UInt8.random(in: 9..<127, using: &random), at: place)
                default: input.swapAt(place, Int.random(in: 1..<input.count, using: &random))
                }
            }
            do { try target.run(input) } catch { Issue.record("\(number): \(error)") }
        }
    }

    @Test func `each directory of the corpus belongs to a target`() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.path)
        #expect(Set(names) == Set(FuzzTarget.all.map(\.name)))
    }
}

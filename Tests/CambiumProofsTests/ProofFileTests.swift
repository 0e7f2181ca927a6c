import CambiumModel
import Foundation
import Testing

@testable import CambiumProofs

@Suite struct ProofFileTests {
    private let log = SampleLog(20)

    private func file(index: UInt64, size: Int) throws -> ProofFile {
        let proof = InclusionProof.make(index: index, size: UInt64(size), log.hash)
        let checkpoint = try Sample.checkpoint(log, size, keys: [Sample.key(1)]).description
        return ProofFile(extra: [1, 2], index: index, path: proof.path, checkpoint: checkpoint)
    }

    private func isAccepted(_ bytes: [UInt8], _ index: UInt64, _ trust: Trust) -> Bool {
        (try? ProofFile(parsing: bytes).check(SampleLog.leaf(index), trusting: trust)) != nil
    }

    @Test func `a proof is accepted by root, key and policy, and by no other`() throws {
        let bytes = Array(try file(index: 4, size: 11).description.utf8)
        let key = try Sample.key(1).verifier
        let policy = try TrustPolicy(parsing: Array("log \(key)\nquorum none\n".utf8))
        for trust in [Trust.root(log.root(11)), .key(key), .policy(policy)] { #expect(isAccepted(bytes, 4, trust)) }
        for trust in [Trust.root(log.root(12)), .key(try Sample.key(2).verifier)] { #expect(!isAccepted(bytes, 4, trust)) }
        #expect(!isAccepted(bytes, 5, .key(key)))
    }

    /// The exact texts and the malformed ones are those of transparency-dev/formats (Apache-2.0), with a checkpoint.
    @Test func `files are read and written as the specification states`() throws {
        let end = "\n" + (try TreeHead(origin: "o", size: 9, root: log.root(9)).text)
        let header = "c2sp.org/tlog-proof@v1\n"
        let hash = log.leaves[0].base64 + "\n"
        for text in [header + "index 5\n\(hash)\(hash)" + end, header + "extra AQI=\nindex 10\n\(hash)" + end, header + "index 0\n" + end] {
            #expect(try ProofFile(parsing: Array(text.utf8)).description == text)
        }
        let malformed = [
            "wrong-header\nindex 0\n" + end, header + "extra !!notbase64!!\nindex 0\n" + end, header + "\n" + end,
            header + "index notanumber\n" + end, header + "index -5\n" + end, header + "index 0\n!!notbase64!!\n" + end,
            header + "index 0\n\(Data(count: 64).base64EncodedString())\n" + end,
            header + "index 0\n" + String(repeating: "a", count: 66_560),
            header + "index 00\n" + end, header + "index 0\r\n" + end, header + "index 0\nextra AQI=\n" + end,
            header + "index 0\n" + end + "\n",
            header + "index 0\n" + String(repeating: hash, count: 64) + end,
        ]
        for text in malformed { #expect(throws: CambiumError.self, "\(text.prefix(80))") { try ProofFile(parsing: Array(text.utf8)) } }
    }

    @Test func `a proof of consistency is accepted from the old root only, and is read as it was written`() throws {
        let key = try Sample.key(1)
        let proof = ConsistencyProof.make(oldSize: 6, size: 19, log.hash)
        let file = ConsistencyFile(oldSize: 6, path: proof.path, checkpoint: try Sample.checkpoint(log, 19, keys: [key]).description)
        let read = try ConsistencyFile(parsing: Array(file.description.utf8))
        #expect(read.description == file.description)
        #expect(try read.check(from: log.root(6), trusting: .key(key.verifier)).size == 19)
        #expect(throws: CambiumError.self) { try read.check(from: log.root(7), trusting: .key(key.verifier)) }
        #expect(throws: CambiumError.self) { try read.check(from: log.root(6), trusting: .root(log.root(18))) }
    }

    @Test func `no changed proof is accepted`() throws {
        let text = try file(index: 4, size: 11).description
        let key = try Sample.key(1).verifier
        var (numbers, forged) = (Numbers(state: 7), 0)
        let other = Array(try file(index: 4, size: 12).description.utf8)
        for forgery in Forgeries(Array(text.utf8), other: other).all(&numbers) {
            forged += 1
            // The extra line is not covered by the proof alone.
            guard let read = try? ProofFile(parsing: forgery), read.extra == [1, 2] else { continue }
            #expect(!isAccepted(forgery, 4, .key(key)), "\(String(decoding: forgery, as: UTF8.self))")
        }
        #expect(forged >= 4000)
    }

    @Test func `no changed note is accepted, unless only lines of unknown keys differ`() throws {
        let keys = try [Sample.key(1), Sample.key(9, .witness, name: "w")]
        let text = try Sample.checkpoint(log, 11, keys: keys).description
        let policy = try TrustPolicy(parsing: Array("log \(keys[0].verifier)\nwitness w \(keys[1].verifier)\nquorum w\n".utf8))
        var (numbers, forged) = (Numbers(state: 8), 0)
        let other = Array(try Sample.checkpoint(log, 12, keys: keys).description.utf8)
        for forgery in Forgeries(Array(text.utf8), other: other).all(&numbers) where forgery != other {
            forged += 1
            guard let note = try? SignedNote(parsing: forgery), (try? policy.check(note)) != nil else { continue }
            // Only signature lines in another order, or repeated ones, leave both signatures valid.
            #expect(note.text == text.split(separator: "\n\n")[0] + "\n" && note.signatures.count >= 2)
        }
        #expect(forged >= 3000)
    }
}

/// Changes of a file: every flip of a bit, every drop of a byte and of a line, swaps, and substitutions from another file.
struct Forgeries {
    let (bytes, other): ([UInt8], [UInt8])

    init(_ bytes: [UInt8], other: [UInt8]) { (self.bytes, self.other) = (bytes, other) }

    func all(_ numbers: inout Numbers) -> [[UInt8]] {
        var all: [[UInt8]] = []
        for place in bytes.indices {
            for bit in 0..<8 { all.append(Array(bytes[..<place]) + [bytes[place] ^ (1 << bit)] + bytes[(place + 1)...]) }
            all.append(Array(bytes[..<place] + bytes[(place + 1)...]))
            all.append(Array(bytes[...place] + bytes[place...]))
            all.append(Array(bytes[..<place]))
        }
        let lines = bytes.split(separator: 10, omittingEmptySubsequences: false).map(Array.init)
        let others = other.split(separator: 10, omittingEmptySubsequences: false).map(Array.init)
        for first in lines.indices.dropLast() {
            var dropped = lines
            dropped.remove(at: first)
            all.append(Array(dropped.joined(separator: [10])))
            for second in lines.indices.dropLast() where second != first {
                var swapped = lines
                swapped.swapAt(first, second)
                all.append(Array(swapped.joined(separator: [10])))
            }
            for line in others {
                var substituted = lines
                substituted[first] = line
                all.append(Array(substituted.joined(separator: [10])))
            }
        }
        for _ in 0..<1000 {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...4, using: &numbers) {
                changed[Int.random(in: 0..<changed.count, using: &numbers)] = UInt8.random(in: 9...126, using: &numbers)
            }
            all.append(changed)
        }
        return all.filter { $0 != bytes }
    }
}

import Cambium
import CambiumModel
import CambiumProofs
import CambiumTesting
import Foundation
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumOperations

/// Docs/Formats/verify.py, which was written from Docs/Formats/PROOFS.md, judges each file as the library does.
@Suite struct ProofVerifierTests {

    /// A file, and the reason to trust it.
    private struct Case {
        let kind: String
        let bytes: [UInt8]
        let trust: (name: String, text: String)
        var since: TreeHash?

        var line: String {
            var members = ["kind": kind, "file": Data(bytes).base64EncodedString(), trust.name: trust.text]
            if let since { members["since"] = since.description }
            return String(decoding: (try? JSONEncoder().encode(members)) ?? Data(), as: UTF8.self)
        }

        /// The verdict of the library: + (holds), - (does not hold), ! (malformed).
        var verdict: Character {
            do {
                let trust: Trust =
                    switch trust.name {
                    case "root": .root(try #require(TreeHash(hex: trust.text)))
                    case "key": .key(try NoteKey(parsing: trust.text))
                    default: .policy(try TrustPolicy(parsing: Array(trust.text.utf8)))
                    }
                switch kind {
                case "note":
                    guard let text = String(validating: bytes, as: UTF8.self) else { return "!" }
                    _ = try trust.head(ofCheckpoint: text)
                case "proof":
                    let proof = try ProofFile(parsing: bytes)
                    if try ProvedValue.isStated(in: proof) {
                        _ = try ProvedValue(proof, trusting: trust)
                    } else {
                        _ = try ProvedTransaction(proof, trusting: trust)
                    }
                default: _ = try ConsistencyFile(parsing: bytes).check(from: try #require(since), trusting: trust)
                }
                return "+"
            } catch { return (error as? CambiumError)?.code == .notProved ? "-" : "!" }
        }
    }

    private func verdictsOfPython(_ cases: [Case]) throws -> [Character] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "cambium-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }  // The folder is temporary.
        let (input, output) = (folder.appending(path: "in"), folder.appending(path: "out"))
        try Data(cases.map { $0.line + "\n" }.joined().utf8).write(to: input)
        try Data().write(to: output)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "python3", PackageFolder.url.appending(path: "Tests/python/check_proofs.py").path,
            PackageFolder.url.appending(path: "Docs/Formats/verify.py").path,
        ]
        process.standardInput = try FileHandle(forReadingFrom: input)
        process.standardOutput = try FileHandle(forWritingTo: output)
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return Array(String(decoding: try Data(contentsOf: output), as: UTF8.self).dropLast())
    }

    /// Judges cases with both verifiers, and returns the verdicts.
    ///
    /// - Parameter exactly: whether both must give the same reason to refuse a file.
    private func judged(_ cases: [Case], exactly: Bool = false) throws -> [Character] {
        let (own, python) = (cases.map(\.verdict), try verdictsOfPython(cases))
        #expect(own.count == python.count)
        for (index, verdicts) in zip(own, python).enumerated()
        where exactly ? verdicts.0 != verdicts.1 : (verdicts.0 == "+") != (verdicts.1 == "+") {
            let text = String(decoding: cases[index].bytes, as: UTF8.self)
            Issue.record("the library says \(verdicts.0), verify.py \(verdicts.1), of a \(cases[index].kind): \(text)")
            break
        }
        return own
    }

    private let key: SigningKey
    private let witnessKey: SigningKey
    private let policy: String

    init() throws {
        key = try SigningKey(name: "example.com/notes", kind: .log, secret: Array(repeating: 1, count: 32))
        witnessKey = try SigningKey(name: "example.org/witness", kind: .witness, secret: Array(repeating: 2, count: 32))
        policy = "log \(key.verifier)\nwitness W \(witnessKey.verifier)\ngroup G any W\nquorum G\n"
    }

    private func store(_ volume: MemoryVolume, count: Int) throws {
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: .tiny)
        for number in 1..<count {
            try store.write(Author(actor: "jané", message: "m\(number)")) { try $0.insert("Note", ["id": .int(Int64(number))]) }
        }
        try store.close()
    }

    @Test func `both verifiers accept each proof of trees up to 64 transactions`() throws {
        let volume = MemoryVolume()
        try store(volume, count: 64)
        let log = try Store.sign(volume, with: [key])
        var cases = [Case(kind: "note", bytes: Array(log.description.utf8), trust: ("key", key.verifier.description))]
        let step = LongTests.areWanted ? 1 : 9
        let reader = try LogReader(volume)
        for size in stride(from: UInt64(1), through: 64, by: step) {
            let tiled = try TiledLog(reader, TileFiles(volume, .cache), size: size)
            let note = try TreeHead(origin: "example.com/notes", size: size, root: tiled.root).signed(with: [key], seconds: 0)
            let trust = size % 4 == 0 ? ("key", key.verifier.description) : ("root", tiled.root.description)
            for number in 1...size {
                let proof = try Store.prove(TransactionNumber(rawValue: number), volume, in: note)
                cases.append(Case(kind: "proof", bytes: Array(proof.description.utf8), trust: trust))
            }
            for old in 0...size {
                var whole = tiled
                let proof = try Store.proveConsistency(since: old, volume, in: note)
                cases.append(
                    Case(kind: "consistency", bytes: Array(proof.description.utf8), trust: trust, since: try whole.root(ofFirst: old)))
            }
        }
        #expect(try judged(cases).allSatisfy { $0 == "+" })
    }

    @Test func `the verifier in Python is one file of at most 450 lines, with modules of the standard library only`() throws {
        let text = try String(contentsOf: PackageFolder.url.appending(path: "Docs/Formats/verify.py"), encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 451)
        let imports = lines.filter { $0.hasPrefix("import ") || $0.hasPrefix("from ") }
        #expect(imports == ["import argparse, base64, datetime, decimal, hashlib, json, math, os, struct, sys, uuid"])
    }

    @Test func `both verifiers refuse forged notes and proofs`() throws {
        let volume = MemoryVolume()
        try store(volume, count: 11)
        var note = try Store.sign(volume, with: [key])
        note.add(witnessKey, seconds: 1_700_000_000)
        let proof = try Store.prove(TransactionNumber(rawValue: 4), volume, in: note).description
        let id = try #require(try ReadOnlyStore(volume).graph.find("Note", identity: [4]))
        let value = try Store.prove("id", of: id, volume, in: note).description
        let growth = try Store.proveConsistency(since: 6, volume, in: note).description
        var tiled = try TiledLog(LogReader(volume), TileFiles(volume, .cache))
        let old = try tiled.root(ofFirst: 6)
        let trust = ("policy", policy)
        var generator = SplitMix64(seed: 5)
        var cases: [Case] = []
        for (kind, text) in [("note", note.description), ("proof", proof), ("proof", value), ("consistency", growth)] {
            #expect(try judged([Case(kind: kind, bytes: Array(text.utf8), trust: trust, since: old)]) == ["+"])
            for forgery in Forgery.all(of: Array(text.utf8), &generator) {
                cases.append(Case(kind: kind, bytes: forgery, trust: trust, since: old))
            }
        }
        if !LongTests.areWanted { cases = cases.enumerated().filter { $0.offset % 23 == 0 }.map(\.element) }
        #expect(cases.count > (LongTests.areWanted ? 10_000 : 400))
        let verdicts = try judged(cases)
        for (index, verdict) in verdicts.enumerated() where verdict == "+" {
            // Only signature lines that are repeated, or that name an unknown key, and an index in JSON may differ.
            #expect(try isHarmless(cases[index], as: note), "\(String(decoding: cases[index].bytes, as: UTF8.self))")
        }
    }

    @Test func `both verifiers accept floats and dates at their limits`() throws {
        let volume = MemoryVolume()
        let schema = try Schema {
            EntityDefinition("Box") {
                AttributeDefinition("f", .float)
                AttributeDefinition("t", .date)
            }
        }
        let store = try Store.create(volume, schema: schema, durability: .synced, environment: fixedEnvironment(), tuning: .tiny)
        let floats: [Float] = [.greatestFiniteMagnitude, 3.4028233e38, -.greatestFiniteMagnitude, .leastNonzeroMagnitude, -0.0, 0.1]
        let times = [0, 0.1, -0.1, 1e-300, -63_113_904_000, 252_423_993_599.99997]
        let ids = try store.write { transaction in
            try zip(floats, times).map { float, time in
                try transaction.insert("Box", ["f": .float(float), "t": .date(Date(timeIntervalSinceReferenceDate: time))])
            }
        }.result
        try store.close()
        let cases = try ids.flatMap { id in
            try ["f", "t"].map { name in
                let proof = try Store.prove(name, of: id, volume)
                let root = try TreeHead(parsing: proof.checkpoint).root
                return Case(kind: "proof", bytes: Array(proof.description.utf8), trust: ("root", root.description))
            }
        }
        #expect(try judged(cases, exactly: true).allSatisfy { $0 == "+" })
    }

    @Test(arguments: [(AttributeType.int32, AttributeType.int64), (.int64, .double), (.float, .double)])
    func `a value is proved with the type of its time, also if the attribute got its first type again`(
        first: AttributeType, second: AttributeType
    ) throws {
        func schema(_ type: AttributeType) -> SchemaDefinition {
            SchemaDefinition {
                EntityDefinition("Box", identity: ["k"]) {
                    AttributeDefinition("k", .string)
                    AttributeDefinition("n", type, .optional)
                }
            }
        }
        let volume = MemoryVolume()
        let store = try Store.create(
            volume, schema: Schema(schema(first)), durability: .synced, environment: fixedEnvironment(), tuning: .tiny)
        _ = try store.write { try $0.insert("Box", ["k": "a"]) }
        try store.migrate(to: schema(second))
        let rows = (0..<300).map { "{\"k\":\"b\($0)\",\"n\":\($0)}\n" }.joined()
        _ = try store.importRows(try store.schema.required("Box"), from: [.bytes(Array(rows.utf8))])
        try store.migrate(to: schema(first))
        let id = try #require(try store.graph.find("Box", identity: ["b7"]))
        try store.close()
        let proof = try Store.prove("n", of: id, volume)
        let root = try TreeHead(parsing: proof.checkpoint).root
        let trust = ("root", root.description)
        #expect(try judged([Case(kind: "proof", bytes: Array(proof.description.utf8), trust: trust)], exactly: true) == ["+"])
        #expect(try ProvedValue(proof, trusting: .root(root)).transaction.number.rawValue == 4)
    }

    @Test func `both verifiers read the members of an opening alike`() throws {
        let volume = MemoryVolume()
        try store(volume, count: 11)
        let id = try #require(try ReadOnlyStore(volume).graph.find("Note", identity: [4]))
        let proof = try Store.prove("id", of: id, volume)
        let (root, extra) = (try TreeHead(parsing: proof.checkpoint).root, String(decoding: try #require(proof.extra), as: UTF8.self))
        let place = try #require(extra.firstRange(of: "\"object\":"))
        func replaced(_ pattern: String, _ texts: [String]) throws -> [String] {
            let regex = try Regex(pattern)
            return texts.map { text in
                let changed = extra.replacing(regex) { _ in text }
                #expect(changed != extra, "\(pattern)")
                return changed
            }
        }
        let numbers = [
            "-1", "-0", "true", "1.0", "[]", "null", "\"0\"", "1e0", "18446744073709551616", String(repeating: "1", count: 6000),
        ]
        var changed = try replaced(
            #""property":"id""#, [#""property":5"#, #""property":[]"#, #""property":"\ud800""#, #""property":"ID""#])
        changed += try replaced(
            #""object":"Note/\d+""#, [#""object":"Note4""#, #""object":"Note/+5""#, #""object":"Note/05""#, #""object":{}"#])
        for name in ["operation", "index", "piece", "pieces", "kind"] {
            changed += try replaced(#""\#(name)":\d+"#, numbers.map { #""\#(name)":\#($0)"# })
        }
        changed += try replaced(#""path":\[[^\]]*\]"#, [#""path":{}"#, #""path":"""#, #""path":[5]"#, #""path":null"#])
        for member in [#""x":NaN,"#, #""x":Infinity,"#, #""object":"Note/1","#, #""x":1,"x":2,"#, #""x":"\ud800","#] {
            changed.append(extra.replacingCharacters(in: place, with: member + "\"object\":"))
        }
        let unused = [numbers[9], "1e400"].map { extra.replacingCharacters(in: place, with: #""x":\#($0),"object":"#) }
        let cases = [extra] + unused + changed
        let files = cases.map { extra in
            ProofFile(extra: Array(extra.utf8), index: proof.index, path: proof.path, checkpoint: proof.checkpoint).description
        }
        let verdicts = try judged(
            files.map { Case(kind: "proof", bytes: Array($0.utf8), trust: ("root", root.description)) }, exactly: true)
        #expect(verdicts.prefix(3) == ["+", "+", "+"] && verdicts.dropFirst(3).allSatisfy { $0 != "+" }, "\(verdicts)")
    }

    /// Whether an accepted forgery states the same as the original: its checkpoint has the same text.
    private func isHarmless(_ forged: Case, as note: SignedNote) throws -> Bool {
        let text = String(decoding: forged.bytes, as: UTF8.self)
        guard text.contains(note.text) else { return false }
        guard forged.kind == "proof" else { return true }
        let (proof, trust) = (try ProofFile(parsing: forged.bytes), Trust.root(try TreeHead(note).root))
        guard try ProvedValue.isStated(in: proof) else {
            return try [4, 5].contains(ProvedTransaction(proof, trusting: trust).number.rawValue)
        }
        let value = try ProvedValue(proof, trusting: trust)
        return value.value == 4 && value.property == "id" && value.transaction.number.rawValue == 5
    }
}

/// Changes of a file: every flip of a bit, every drop and repetition of a byte and of a line, every end, and every swap of two lines.
private enum Forgery {
    static func all(of bytes: [UInt8], _ generator: inout SplitMix64) -> [[UInt8]] {
        var all: [[UInt8]] = []
        for place in bytes.indices {
            for bit in 0..<8 { all.append(Array(bytes[..<place]) + [bytes[place] ^ (1 << bit)] + bytes[(place + 1)...]) }
            all.append(Array(bytes[..<place] + bytes[(place + 1)...]))
            all.append(Array(bytes[...place] + bytes[place...]))
            all.append(Array(bytes[..<place]))
        }
        let lines = bytes.split(separator: 10, omittingEmptySubsequences: false).map(Array.init)
        for first in lines.indices {
            for second in lines.indices {
                var changed = lines
                changed[first] = lines[second]
                all.append(Array(changed.joined(separator: [10])))
                changed = lines
                changed.swapAt(first, second)
                all.append(Array(changed.joined(separator: [10])))
                changed = lines
                changed.insert(lines[first], at: second)
                all.append(Array(changed.joined(separator: [10])))
            }
        }
        for _ in 0..<500 {
            var changed = bytes
            for _ in 0..<3 { changed[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 10...126, using: &generator) }
            all.append(changed)
        }
        return all.filter { $0 != bytes }
    }
}

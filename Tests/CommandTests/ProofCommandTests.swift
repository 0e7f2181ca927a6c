import Foundation
import Testing

@testable import CambiumCommand

@Suite struct ProofCommandTests {
    /// A store of 12 transactions with a key, and the public key.
    private func signed() throws -> (place: Workplace, key: String) {
        let place = try Workplace.copy {
            let place = try Workplace.withStore()
            for number in 1...11 {
                let outcome = try place.run("insert", "notes", "Note", "id=\(number)", "title=t\(number)", "--actor", "jane")
                #expect(outcome.code == 0)
            }
            return place
        }
        let made = try place.run("sign", "--generate", "example.com/notes", "--key", "key", "--json")
        #expect(made.code == 0, "\(made.errors)")
        return (place, try #require(made.json.first?["key"] as? String))
    }

    private func python(_ place: Workplace, _ arguments: String...) throws -> Workplace.Outcome {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let script = root.appending(path: "Docs/Formats/verify.py").path
        return try place.run(executable: URL(filePath: "/usr/bin/env"), ["python3", script] + arguments)
    }

    @Test func `a proof is made with a key, and checked by both programs`() throws {
        let (place, key) = try signed()
        #expect(try place.run("prove", "notes", "7", "--key", "key", "--to", "proof").code == 0)
        let checked = try place.run("check-proof", "proof", "--key", key, "--json")
        #expect(checked.code == 0, "\(checked.errors)")
        let own = try #require(checked.json.first)
        #expect(own["claim"] as? String == "included" && own["transaction"] as? Int == 7 && own["actor"] as? String == "jane")
        let other = try #require(try python(place, "proof", "proof", "--key", key).json.first)
        for name in ["ok", "claim", "transaction", "time", "actor", "message", "origin", "size", "root"] {
            #expect("\(own[name] ?? "")" == "\(other[name] ?? "")", "\(name)")
        }
        let text = try place.run("check-proof", "proof", "--key", key).output
        #expect(text.hasPrefix("Included: transaction 7 of ") && text.contains(", jane\n"))
    }

    @Test func `both programs print the same decimal with all its digits`() throws {
        let place = try Workplace()
        try place.write(#"{"entities":{"Item":{"attributes":{"price":{"type":"decimal"}}}}}"#, to: "schema.json")
        #expect(try place.run("init", "s", "--schema", "schema.json").code == 0)
        for (index, price) in ["12.40", "-0.000001", "1e70", "0", "1200", "3e-100", "12345678901234567890.123456789012"].enumerated() {
            #expect(try place.run("insert", "s", "Item", "price:=\(price)").code == 0)
            let made = try #require(try place.run("prove", "s", "Item/\(index + 1)", "price", "--to", "proof", "--json").json.first)
            let root = try #require(made["root"] as? String)
            let own = try place.run("check-proof", "proof", "--root", root, "--json").output.firstMatch(of: /"value":([^,]*),/)?.1
            let other = try python(place, "proof", "proof", "--root", root).output.firstMatch(of: /"value": ([^,]*),/)?.1
            #expect(own != nil && own == other, "\(price)")
        }
    }

    @Test func `a proof without a key is checked by its root`() throws {
        let (place, _) = try signed()
        let made = try #require(try place.run("prove", "notes", "3", "--json").json.first)
        try place.write(try #require(made["proof"] as? String), to: "proof")
        let root = try #require(made["root"] as? String)
        #expect(try place.run("verify", "notes", "--json").json.first?["root"] as? String == root)
        #expect(try place.run("check-proof", "proof", "--root", root.uppercased()).code == 0)
        #expect(try python(place, "proof", "proof", "--root", root).code == 0)
        let wrong = String(root.dropLast()) + (root.hasSuffix("0") ? "1" : "0")
        let refused = try place.run("check-proof", "proof", "--root", wrong, "--json")
        #expect(try refused.code == 1 && refused.json.first?["ok"] as? Bool == false)
        #expect(try python(place, "proof", "proof", "--root", wrong).code == 1)
        try place.write("hello\n", to: "proof")
        #expect(
            try place.run("check-proof", "proof", "--root", root).code == 65 && python(place, "proof", "proof", "--root", root).code == 65)
    }

    @Test func `a witness cosigns a note, a policy requires it, and the log is verified against it`() throws {
        let (place, key) = try signed()
        let made = try place.run("witness", "--generate", "example.org/w", "--key", "witness.key", "--json")
        let witness = try #require(try made.json.first?["key"] as? String)
        try place.write("log \(key)\nwitness W \(witness)\nquorum W\n", to: "policy")
        #expect(try place.run("sign", "notes", "--key", "key", "--to", "note").code == 0)
        #expect(try place.run("verify", "notes", "--against", "note", "--policy", "policy").code == 1)
        #expect(try place.run("prove", "notes", "--consistency", "0", "--note", "note", "--to", "request").code == 0)
        #expect(try place.run("witness", "memory", "request", "--key", "witness.key").code == 66)
        let cosigned = try place.run("witness", "memory", "request", "--key", "witness.key", "--log", key)
        #expect(cosigned.code == 0, "\(cosigned.errors)")
        try place.write(String(decoding: try place.bytes(of: "note"), as: UTF8.self) + cosigned.output, to: "cosigned")
        for arguments in [["--policy", "policy"], ["--key", key], []] {
            let outcome = try place.run(
                executable: Workplace.binary, ["verify", "notes", "--against", "cosigned"] + arguments)
            #expect(outcome.code == 0, "\(outcome.errors)")
            let kind = arguments.isEmpty ? "stated" : "signed"
            #expect(outcome.output.contains("the log continues the \(kind) tree of 12 transactions of "), "\(outcome.output)")
        }
        #expect(try python(place, "note", "cosigned", "--policy", "policy").code == 0)
        #expect(try place.run("delete", "notes", "Note/1").code == 0)
        #expect(try place.run("prove", "notes", "--consistency", "12", "--key", "key", "--to", "growth").code == 0)
        #expect(try place.run("check-proof", "growth", "--since", "cosigned", "--key", key).code == 0)
        #expect(try python(place, "consistency", "growth", "--since", "cosigned", "--key", key).code == 0)
        #expect(try place.run("witness", "memory", "request", "--key", "witness.key").code == 1)
        #expect(try place.run("witness", "memory", "growth", "--key", "witness.key", "--json").json.first?["size"] as? Int == 13)
    }

    @Test func `a value whose changes were retired is proved in a store that is restored from the archive`() throws {
        let (place, _) = try signed()
        #expect(try place.run("checkpoint", "notes").code == 0)
        #expect(try place.run("compact", "notes", "--retain", "snapshots:1", "--archive", "kept").code == 0)
        let refused = try place.run("prove", "notes", "Note/1", "title")
        #expect(refused.code == 66 && refused.errors.contains("retired by a compaction") && refused.errors.contains("--archive"))
        #expect(try place.run("restore", "notes", "whole", "--archive", "kept").code == 0)
        #expect(try place.run("prove", "whole", "Note/1", "title", "--to", "proof").code == 0)
    }

    @Test func `a store that was rewritten is neither signed nor verified`() throws {
        let (place, key) = try signed()
        #expect(try place.run("backup", "notes", "older").code == 0)
        #expect(try place.run("set", "notes", "Note/1", "title=x").code == 0)
        #expect(try place.run("sign", "notes", "--key", "key", "--to", "note").code == 0)
        #expect(try place.run("set", "older", "Note/1", "title=y").code == 0)
        try FileManager.default.copyItem(
            at: place.directory.appending(path: "notes/signed"), to: place.directory.appending(path: "older/signed"))
        #expect(try place.run("sign", "older", "--key", "key").code == 1)
        let verified = try place.run("verify", "older", "--against", "note", "--key", key, "--json")
        #expect(try verified.code == 1 && verified.json.first?["ok"] as? Bool == false)
    }

    @Test func `a key that others can read is refused, and a new key signs beside the old one`() throws {
        let (place, key) = try signed()
        let rotated = try place.run("sign", "--rotate", "--key", "key").output.split(separator: "\n").map(String.init)
        let path = place.directory.appending(path: "key").path
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.directory.path).filter { $0.hasSuffix(".new") } == [])
        #expect(try place.run("sign", "notes", "--key", "key", "--to", "note").code == 0)
        for known in rotated + [key] { #expect(try python(place, "note", "note", "--key", known).code == 0, "\(known)") }
        #expect(try place.run("sign", "--generate", "n", "--key", "key").code == 73)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        let refused = try place.run("sign", "notes", "--key", "key")
        #expect(refused.code == 65 && refused.errors.contains("chmod 600"))
    }

    @Test func `tiles are written for a web server, and only new ones again`() throws {
        let (place, _) = try signed()
        let first = try #require(try place.run("tiles", "notes", "--to", "public", "--key", "key", "--json").json.first)
        #expect(first["size"] as? Int == 12 && first["files"] as? Int == 2 && first["signed"] as? Bool == true)
        #expect(try place.bytes(of: "public/tile/0/000.p/12").count == 12 * 32)
        let second = try #require(try place.run("tiles", "notes", "--to", "public", "--json").json.first)
        #expect(second["files"] as? Int == 0)
    }

    @Test func `a published log never shrinks`() throws {
        let (place, _) = try signed()
        #expect(try place.run("sign", "notes", "--key", "key", "--to", "old").code == 0)
        #expect(try place.run("insert", "notes", "Note", "id=12").code == 0)
        #expect(try place.run("tiles", "notes", "--to", "public", "--key", "key").code == 0)
        let published = try place.bytes(of: "public/checkpoint")
        let refused = try place.run("tiles", "notes", "--to", "public", "--note", "old")
        #expect(refused.code == 1 && refused.errors.contains("has the checkpoint of a tree of 13 transactions, and the note is of 12."))
        #expect(try place.bytes(of: "public/checkpoint") == published)
        try place.write("no checkpoint", to: "public/checkpoint")
        #expect(try place.run("tiles", "notes", "--to", "public", "--note", "old").code == 0)
    }

    @Test(arguments: [
        ["prove", "notes"], ["prove", "notes", "3", "--consistency", "1"], ["prove", "notes", "3", "--key", "k", "--note", "n"],
        ["check-proof", "p"], ["check-proof", "p", "--root", "ab"], ["sign", "--key", "k"], ["sign", "notes", "--key", "k", "--rotate"],
        ["witness", "w", "--key", "k"], ["verify", "notes", "--policy", "p"],
    ])
    func `arguments that do not fit together are refused`(arguments: [String]) throws {
        let place = try Workplace.withStore()
        let outcome = try place.run(executable: Workplace.binary, arguments)
        #expect(outcome.code == 64, "\(outcome.output)\(outcome.errors)")
    }
}

import CambiumBytes
import CambiumModel
import Foundation
import Testing

@testable import CambiumProofs

@Suite struct SignedNoteTests {
    private func isAccepted(_ text: String, _ keys: [String] = [Sample.key]) -> Bool {
        (try? SignedNote(parsing: Array(text.utf8)).verify(with: keys.map { try NoteKey(parsing: $0) })) != nil
    }

    @Test func `the note of the specification is accepted with its key, and is written as it was read`() throws {
        #expect(isAccepted(Sample.note))
        #expect(try SignedNote(parsing: Array(Sample.note.utf8)).description == Sample.note)
        #expect(try NoteKey(parsing: Sample.key).description == Sample.key)
    }

    /// The public key and the checkpoint of the log in the test data of transparency-dev/tessera (Apache-2.0).
    @Test func `a checkpoint of Tessera is accepted`() throws {
        let note = """
            example.com/log/testdata
            15
            rKbDipCvhuX1GZ7g5BBe8sA6BbJ7ja/1nk427v383cs=

            — example.com/log/testdata M9e0luh4jTG+UMBqOUo9/q+yAEvx1ilBEniMvjf1zfcBOhg+CKubMt53MvIt/uEWP6zdkdIQzd/fmwlM/dlPWF74ewI=

            """
        let key = "example.com/log/testdata+33d7b496+AeHTu4Q3hEIMHNqc6fASMsq3rKNx280NI+oO5xCFkkSx"
        #expect(isAccepted(note, [key]))
        let secret = "PRIVATE+KEY+example.com/log/testdata+33d7b496+AeymY/SZAX0jZcJ8enZ5FY1Dz+wTML2yWSkK+9DSF3eg"
        let head = try TreeHead(SignedNote(parsing: Array(note.utf8)))
        #expect(try head.signed(with: [SigningKey(parsing: secret)], seconds: 0).description == note)
        #expect(try SigningKey(parsing: secret).secretText == secret)
    }

    /// The examples of RFC 8032, section 7.1.
    @Test(arguments: [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
                + "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb", "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        ),
    ])
    func `signatures are those of RFC 8032`(secret: String, message: String, signature: String) throws {
        let (secret, message) = (try #require(HexText.decode(secret)), try #require(HexText.decode(message)))
        #expect(HexText.encode(Ed25519.sign(message, secret: secret)) == signature)
        #expect(Ed25519.isValid(Ed25519.sign(message, secret: secret), of: message, publicKey: Ed25519.publicKey(of: secret)))
        #expect(!Ed25519.isValid([], of: message, publicKey: Ed25519.publicKey(of: secret)))
    }

    @Test(.enabled(if: Sample.edgeCases != nil)) func `of the edge cases of CCTV, those are refused that RFC 8032 refuses`() throws {
        struct Case: Decodable {
            let key, sig, msg: String
            let flags: [String]?
        }
        let cases = try JSONDecoder().decode([Case].self, from: Data(contentsOf: try #require(Sample.edgeCases)))
        #expect(cases.count > 900)
        for one in cases {
            let (key, signature) = (try #require(HexText.decode(one.key)), try #require(HexText.decode(one.sig)))
            let isRefused = (one.flags ?? []).contains { $0.hasPrefix("non_canonical") || $0 == "low_order_residue" }
            #expect(Ed25519.isValid(signature, of: Array(one.msg.utf8), publicKey: key) != isRefused)
        }
    }

    @Test(arguments: [
        ("", "no end"), (Sample.note + "x", "a last line without end"), (Sample.note.replacing("\n\n", with: "\n"), "no empty line"),
        (Sample.note.replacing("\n", with: "\r\n"), "CR"), (Sample.note + "\n", "an empty line at the end"),
        (Sample.note.replacing("— ", with: "- "), "a hyphen"), (Sample.note.replacing("foo Uw2", with: "foo  Uw2"), "two spaces"),
        (Sample.note.replacing("aQM=", with: "aQN="), "bits beyond the last byte"),
        (Sample.note.replacing("aQM=", with: "aQM"), "no padding"),
        (Sample.note.replacing("example.com/foo", with: "example.com+foo"), "a plus in the name"),
        (Sample.note.replacing("example.com/foo", with: "example\u{A0}foo"), "a space in the name"),
        (Sample.note.replacing("message.", with: "mess\u{1B}age."), "a control character"),
    ])
    func `a malformed note is refused as such`(text: String, flaw: String) throws {
        let error = #expect(throws: CambiumError.self, "\(flaw)") { try SignedNote(parsing: Array(text.utf8)) }
        #expect(error?.code == .invalidInput)
    }

    @Test func `bytes that are not UTF-8 and more than 100 signatures are refused`() throws {
        var bytes = Array(Sample.note.utf8)
        bytes[3] = 0xFF
        #expect(throws: CambiumError.self) { try SignedNote(parsing: bytes) }
        let line = Sample.note.split(separator: "\n")[1] + "\n"
        #expect(isAccepted("t\n\n" + String(repeating: String(line), count: 101)) == false)
        let keys = try (1...16).map { try Sample.key(UInt8($0), name: "k\($0)") }
        let note = SignedNote(signing: Array("t\n".utf8), with: keys, seconds: 0)
        #expect(try note.verify(with: keys.map(\.verifier)).count == 16)
    }

    @Test func `a wrong signature of a known key refuses the note, and one of another key is ignored`() throws {
        let (first, second) = (try Sample.key(1), try Sample.key(2))
        let note = SignedNote(signing: Array("text\n".utf8), with: [first, second], seconds: 0).description
        #expect(isAccepted(note, [first.verifier.description]) && isAccepted(note, [second.verifier.description]))
        let lines = note.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let broken = (lines[..<2] + [lines[2].replacing("=", with: ""), lines[3], ""]).joined(separator: "\n")
        #expect(!isAccepted(broken, [second.verifier.description]))
        var other = SignedNote(signing: Array("other\n".utf8), with: [first], seconds: 0).description.split(separator: "\n").map(
            String.init)[1]
        other = note + other + "\n"
        #expect(!isAccepted(other, [first.verifier.description]) && isAccepted(other, [second.verifier.description]))
        #expect(!isAccepted(note, [try Sample.key(3).verifier.description]))
    }

    @Test(arguments: [
        Sample.key.replacing("530d903a", with: "530d903b"), Sample.key.replacing("530d903a", with: "530D903A"), Sample.key + "=",
        Sample.key.replacing("+Aek", with: "+Auk"), "example.com/foo+530d903a", "+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
        "",
    ])
    func `a malformed key is refused`(text: String) { #expect(throws: CambiumError.self) { try NoteKey(parsing: text) } }

    @Test(arguments: [
        "\n1\nROOT\n", "o\n01\nROOT\n", "o\n-1\nROOT\n", "o\n1\nROOT", "o\n1\nROOT\n\n", "o\n1\nAAAA\n", "o\n9223372036854775808\nROOT\n",
        "o\n1\n",
    ])
    func `a malformed checkpoint is refused`(text: String) throws {
        let root = TreeHash.ofEmptyTree.base64
        #expect(throws: CambiumError.self) { try TreeHead(parsing: text.replacing("ROOT", with: root)) }
        #expect(try TreeHead(parsing: "o\n1\n\(root)\nmore\n").text == "o\n1\n\(root)\nmore\n")
    }
}

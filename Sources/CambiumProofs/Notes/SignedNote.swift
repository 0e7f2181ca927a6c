public import CambiumModel

/// A signature line of a note.
///
/// ```swift
/// for signature in try Store.sign(at: "notes", with: [key]).signatures { print(signature.name, signature.keyID) }
/// ```
public struct NoteSignature: Sendable {
    let nameBytes: [UInt8]
    /// The number of the key.
    public let keyID: UInt32
    /// The signature in the form that the algorithm of the key determines.
    public let bytes: [UInt8]

    /// The name of the key.
    public var name: String { String(decoding: nameBytes, as: UTF8.self) }

    init(name: [UInt8], keyID: UInt32, bytes: [UInt8]) { (nameBytes, self.keyID, self.bytes) = (name, keyID, bytes) }

    static let prefix = "— "

    /// Reads a line without its line feed. Returns `nil` if it is not a signature line.
    init?(_ line: ArraySlice<UInt8>) {
        guard let rest = NoteText.text(line, after: Self.prefix), let space = rest.firstIndex(of: UInt8(ascii: " ")) else { return nil }
        let name = rest[..<space]
        guard NoteText.isName(name), let content = Base64.bytes(rest[(space + 1)...]), content.count > 4 else { return nil }
        self.init(name: Array(name), keyID: content[..<4].reduce(0) { $0 << 8 | UInt32($1) }, bytes: Array(content[4...]))
    }

    static func bytes(of id: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: id >> (24 - 8 * UInt32($0))) } }

    /// The line with its line feed.
    var line: String { "\(Self.prefix)\(name) \(Base64.text(Self.bytes(of: keyID) + bytes))\n" }
}

/// A text with the signatures of one or more keys (C2SP signed-note 1.0).
///
/// The text of a note that was only parsed is outside data. Use it after `verify(with:)` has accepted the note.
///
/// ```swift
/// let key = try NoteKey(parsing: "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k")
/// let line = "— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n"
/// let note = try SignedNote(parsing: Array("This is an example message.\n\n\(line)".utf8))
/// try note.verify(with: [key])
/// ```
public struct SignedNote: Sendable, CustomStringConvertible {
    /// The bytes of the text, with its last line feed.
    let textBytes: [UInt8]
    /// The signatures, in the order of their lines.
    public private(set) var signatures: [NoteSignature]

    /// The text, with its last line feed.
    public var text: String { String(decoding: textBytes, as: UTF8.self) }

    /// The largest number of bytes of a note.
    public static let byteCountMax = 1_000_000
    /// The largest number of signatures of a note.
    public static let signatureCountMax = 100

    /// Reads a note, without checking its signatures. Throws `.invalidInput` if the bytes are not a note.
    public init(parsing bytes: [UInt8]) throws(CambiumError) {
        guard bytes.count <= Self.byteCountMax else { throw .malformed("note", "it has more than \(Self.byteCountMax) bytes") }
        guard NoteText.isPlain(bytes) else { throw .malformed("note", "it is not UTF-8, or has control characters") }
        guard bytes.last == NoteText.lineFeed else { throw .malformed("note", "its last line has no end") }
        let ends = bytes.indices.dropFirst().last { bytes[$0] == NoteText.lineFeed && bytes[$0 - 1] == NoteText.lineFeed }
        guard let end = ends else { throw .malformed("note", "it has no empty line before its signatures") }
        textBytes = Array(bytes[..<end])
        signatures = []
        var lines = NoteLines(bytes[(end + 1)...])
        while let line = lines.next() {
            guard let signature = NoteSignature(line) else {
                throw .malformed("note", "line \(signatures.count + 1) of its signatures is not a signature")
            }
            guard signatures.count < Self.signatureCountMax else {
                throw .malformed("note", "it has more than \(Self.signatureCountMax) signatures")
            }
            signatures.append(signature)
        }
        if signatures.isEmpty { throw .malformed("note", "it has no signature") }
    }

    /// Creates a note with the signatures of keys.
    ///
    /// - Parameter seconds: the time since 1970 that a witness states.
    init(signing text: [UInt8], with keys: [SigningKey], seconds: UInt64) {
        textBytes = text
        signatures = keys.map { $0.sign(text, seconds: seconds) }
    }

    /// Adds a signature of a key.
    ///
    /// - Parameter seconds: the time since 1970 that a witness states.
    package mutating func add(_ key: SigningKey, seconds: UInt64) { signatures.append(key.sign(textBytes, seconds: seconds)) }

    /// Checks the signatures of known keys, and returns the keys that have signed. Signatures of other keys are ignored.
    ///
    /// Throws `.notProved` if a signature of one of these keys is wrong, or if none of them has signed. Complexity: O(signatures x keys).
    @discardableResult public func verify(with keys: [NoteKey]) throws(CambiumError) -> [NoteKey] {
        var signers: [NoteKey] = []
        for signature in signatures {
            for key in keys where key.made(signature) {
                guard key.isValid(signature.bytes, of: textBytes) else {
                    throw CambiumError(
                        .notProved, "The signature of '\(key.name)' on the note is wrong. Do not trust the note; get it again.")
                }
                if !signers.contains(where: { $0.id == key.id && $0.nameBytes == key.nameBytes }) { signers.append(key) }
            }
        }
        if signers.isEmpty {
            throw CambiumError(.notProved, "None of the given keys has signed the note. Check which key belongs to its source.")
        }
        return signers
    }

    /// The note as text: the text that was signed, an empty line, and the signature lines.
    public var description: String { text + "\n" + signatures.map(\.line).joined() }

    /// The signature lines without the text.
    package var signatureText: String { signatures.map(\.line).joined() }
}

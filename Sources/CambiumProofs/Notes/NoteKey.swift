import CambiumBytes
public import CambiumModel

/// The algorithm of a signature on a note. The raw value is the byte that C2SP assigns to it.
///
/// ```swift
/// print(NoteKeyKind.log.rawValue, NoteKeyKind.witness.rawValue)  // 1 4
/// ```
public enum NoteKeyKind: UInt8, Sendable {
    /// Ed25519 over the text of the note. Logs sign with such keys.
    case log = 0x01
    /// Ed25519 over a time and the text of a checkpoint (C2SP tlog-cosignature). Witnesses sign with such keys.
    case witness = 0x04
}

/// A public key with which the signatures of notes are checked, in the form of C2SP signed-note: `NAME+ID+KEY`.
///
/// ```swift
/// let key = try NoteKey(parsing: "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k")
/// ```
public struct NoteKey: Sendable, CustomStringConvertible {
    let nameBytes: [UInt8]
    /// The algorithm.
    public let kind: NoteKeyKind
    /// The public key, 32 bytes.
    public let publicKey: [UInt8]
    /// The number that identifies the key together with its name.
    public let id: UInt32

    /// The name of the key: for a log, its origin.
    public var name: String { String(decoding: nameBytes, as: UTF8.self) }

    /// The largest number of bytes of the text of a key.
    static let byteCountMax = 4096

    init(name: [UInt8], kind: NoteKeyKind, publicKey: [UInt8]) {
        (nameBytes, self.kind, self.publicKey) = (name, kind, publicKey)
        id = Self.id(name, [kind.rawValue] + publicKey)
    }

    /// Reads a key. Throws `.invalidInput` if the text is not a key, or a key of another algorithm.
    public init(parsing text: String) throws(CambiumError) { try self.init(parsing: Array(text.utf8)[...]) }

    init(parsing text: ArraySlice<UInt8>) throws(CambiumError) {
        let (name, id, content) = try Self.parts(text)
        guard let kind = NoteKeyKind(rawValue: content[0]) else {
            throw .malformed("key", "its algorithm has the number \(content[0]), but only 1 and 4 (Ed25519) are supported")
        }
        guard content.count == 1 + Ed25519.keyByteCount else { throw .malformed("key", "a key of Ed25519 has 32 bytes") }
        self.init(name: name, kind: kind, publicKey: Array(content.dropFirst()))
        guard self.id == id else { throw .malformed("key", "its number does not match its name and content") }
    }

    /// Splits `NAME+ID+CONTENT`.
    static func parts(_ text: ArraySlice<UInt8>) throws(CambiumError) -> (name: [UInt8], id: UInt32, content: [UInt8]) {
        guard text.count <= byteCountMax else { throw .malformed("key", "it has more than \(byteCountMax) bytes") }
        let parts = text.split(separator: UInt8(ascii: "+"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, NoteText.isName(parts[0]) else { throw .malformed("key", "it must be NAME+ID+KEY") }
        guard parts[1].count == 8, let id = HexText.decode(String(decoding: parts[1], as: UTF8.self)) else {
            throw .malformed("key", "the number after its name must have 8 hexadecimal digits")
        }
        guard let content = Base64.bytes(parts[2]), !content.isEmpty else { throw .malformed("key", "its last part is not base64") }
        return (Array(parts[0]), id.reduce(0) { $0 << 8 | UInt32($1) }, content)
    }

    static func id(_ name: [UInt8], _ content: [UInt8]) -> UInt32 {
        ContentHash.hash((name + [NoteText.lineFeed] + content)[...]).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The key as text: `NAME+ID+KEY`.
    public var description: String { Self.text(nameBytes, id, [kind.rawValue] + publicKey) }

    static func text(_ name: [UInt8], _ id: UInt32, _ content: [UInt8]) -> String {
        "\(String(decoding: name, as: UTF8.self))+\(HexText.encode(NoteSignature.bytes(of: id)))+\(Base64.text(content))"
    }

    /// Whether a signature names this key.
    func made(_ signature: NoteSignature) -> Bool { signature.keyID == id && signature.nameBytes == nameBytes }

    /// Returns whether the bytes of a signature are valid for a text.
    func isValid(_ signature: [UInt8], of text: [UInt8]) -> Bool {
        switch kind {
        case .log: return Ed25519.isValid(signature, of: text, publicKey: publicKey)
        case .witness:
            guard signature.count == 8 + Ed25519.signatureByteCount else { return false }
            let time = signature[..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard time <= UInt64(Int64.max) else { return false }
            return Ed25519.isValid(Array(signature[8...]), of: Self.cosigned(text, time), publicKey: publicKey)
        }
    }

    /// The message that a witness signs.
    static func cosigned(_ text: [UInt8], _ time: UInt64) -> [UInt8] { Array("cosignature/v1\ntime \(time)\n".utf8) + text }
}

/// A secret key that signs notes. Its text has the form of Go's package note: `PRIVATE+KEY+NAME+ID+KEY`.
///
/// ```swift
/// let secret = (0..<32).map { _ in UInt8.random(in: 0...255) }
/// let key = try SigningKey(name: "example.com/notes", kind: .log, secret: secret)
/// print(key.verifier)
/// ```
public struct SigningKey: Sendable {
    /// The public key.
    public let verifier: NoteKey
    private let secret: [UInt8]

    private static let prefix = "PRIVATE+KEY+"

    /// Creates a key.
    ///
    /// - Parameters:
    ///   - name: the name of the key: for a log, its origin. It has neither spaces nor plus signs.
    ///   - kind: the algorithm.
    ///   - secret: 32 random bytes.
    ///
    /// Throws `.invalidInput` if the name cannot be that of a key, or if there are not 32 random bytes.
    public init(name: String, kind: NoteKeyKind, secret: [UInt8]) throws(CambiumError) {
        guard NoteText.isName(Array(name.utf8)), name.utf8.count <= 1024 else {
            throw CambiumError(
                .invalidInput, "'\(name)' cannot be the name of a key. Use at most 1,024 bytes without spaces and plus signs.")
        }
        guard secret.count == Ed25519.keyByteCount else { throw CambiumError(.invalidInput, "A secret key has 32 bytes.") }
        self.secret = secret
        verifier = NoteKey(name: Array(name.utf8), kind: kind, publicKey: Ed25519.publicKey(of: secret))
    }

    /// Reads a key. Throws `.invalidInput` if the text is not a secret key.
    public init(parsing text: String) throws(CambiumError) {
        let bytes = Array(text.utf8)
        guard let rest = NoteText.text(bytes[...], after: Self.prefix) else {
            throw .malformed("secret key", "it does not begin with \(Self.prefix)")
        }
        let (name, id, content) = try NoteKey.parts(rest)
        guard let kind = NoteKeyKind(rawValue: content[0]) else { throw .malformed("secret key", "its algorithm is not supported") }
        try self.init(name: String(decoding: name, as: UTF8.self), kind: kind, secret: Array(content.dropFirst()))
        guard verifier.id == id else { throw .malformed("secret key", "its number does not match its name and content") }
    }

    /// The key as text, which the caller must keep secret.
    public var secretText: String {
        Self.prefix + NoteKey.text(verifier.nameBytes, verifier.id, [verifier.kind.rawValue] + secret)
    }

    /// Returns the signature of a text.
    ///
    /// - Parameter seconds: the time since 1970, of which a witness states that it signed. A log signs no time.
    func sign(_ text: [UInt8], seconds: UInt64) -> NoteSignature {
        switch verifier.kind {
        case .log:
            return NoteSignature(name: verifier.nameBytes, keyID: verifier.id, bytes: Ed25519.sign(text, secret: secret))
        case .witness:
            let time = (0..<8).map { UInt8(truncatingIfNeeded: seconds >> (56 - 8 * UInt64($0))) }
            let signature = Ed25519.sign(NoteKey.cosigned(text, seconds), secret: secret)
            return NoteSignature(name: verifier.nameBytes, keyID: verifier.id, bytes: time + signature)
        }
    }
}

public import CambiumModel

/// The size and the root of the tree over a log, with the name of the log: the text of a C2SP checkpoint.
///
/// ```swift
/// let head = try TreeHead(parsing: "example.com/notes\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n")
/// print(head.origin, head.size, head.root)
/// ```
public struct TreeHead: Sendable, Equatable {
    let originBytes: [UInt8]
    /// The number of leaves.
    public let size: UInt64
    /// The root of the tree.
    public let root: TreeHash
    /// The lines after the root. No reader can check them, so Cambium writes no such lines.
    let extensions: [[UInt8]]

    /// The name of the log. Nothing but its bytes is compared.
    public var origin: String { String(decoding: originBytes, as: UTF8.self) }

    /// Creates the head of a tree.
    ///
    /// - Parameter origin: the name of the log, in one line.
    ///
    /// Throws `.invalidInput` if the origin is empty or has control characters, or if the size is above 2^62.
    public init(origin: String, size: UInt64, root: TreeHash) throws(CambiumError) {
        let bytes = Array(origin.utf8)
        guard !bytes.isEmpty, !bytes.contains(where: { $0 < 0x20 }) else {
            throw CambiumError(.invalidInput, "The origin of a log is a line of text. Give one without control characters.")
        }
        guard size <= MerkleProof.sizeMax else { throw CambiumError(.invalidInput, "A log has at most 2^62 transactions.") }
        (originBytes, self.size, self.root, extensions) = (bytes, size, root, [])
    }

    /// Reads the text of a checkpoint. Throws `.invalidInput` if it has another format.
    public init(parsing text: String) throws(CambiumError) { try self.init(parsing: Array(text.utf8)) }

    init(parsing bytes: [UInt8]) throws(CambiumError) {
        guard bytes.count <= SignedNote.byteCountMax, bytes.last == NoteText.lineFeed, NoteText.isPlain(bytes) else {
            throw .malformed("checkpoint", "it is not UTF-8 in lines")
        }
        var lines = NoteLines(bytes[...])
        guard let origin = lines.next(), !origin.isEmpty else { throw .malformed("checkpoint", "its first line, the origin, is empty") }
        guard let size = lines.next().flatMap({ NoteText.number($0) }) else {
            throw .malformed("checkpoint", "its second line is not the size of a tree")
        }
        guard let root = lines.next().flatMap({ TreeHash(base64: $0) }) else {
            throw .malformed("checkpoint", "its third line is not a hash of 32 bytes in base64")
        }
        var extensions: [[UInt8]] = []
        while let line = lines.next() { extensions.append(Array(line)) }
        if extensions.contains([]) { throw .malformed("checkpoint", "it has an empty line") }
        (originBytes, self.size, self.root, self.extensions) = (Array(origin), size, root, extensions)
    }

    /// Reads the checkpoint in a note, without checking the signatures. Throws `.invalidInput` if the text is not a checkpoint.
    public init(_ note: SignedNote) throws(CambiumError) { try self.init(parsing: note.textBytes) }

    /// Reads a checkpoint that is a note, or only its text, without checking the signatures.
    package init(checkpoint: String) throws(CambiumError) { self = try Self.parts(ofCheckpoint: Array(checkpoint.utf8)).head }

    /// Returns the head and the note of a checkpoint. The note is `nil` for a checkpoint without signatures.
    static func parts(ofCheckpoint bytes: [UInt8]) throws(CambiumError) -> (head: TreeHead, note: SignedNote?) {
        // The text of a checkpoint has no empty line, so a text with one is a note.
        let isNote = zip(bytes, bytes.dropFirst()).contains { $0 == NoteText.lineFeed && $1 == NoteText.lineFeed }
        guard isNote else { return (try TreeHead(parsing: bytes), nil) }
        let note = try SignedNote(parsing: bytes)
        return (try TreeHead(note), note)
    }

    var bytes: [UInt8] {
        let lines = [originBytes, Array(String(size).utf8), Array(root.base64.utf8)] + extensions
        return lines.flatMap { $0 + [NoteText.lineFeed] }
    }

    /// The text of the checkpoint, of which each line ends with a line feed.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Returns the checkpoint as a note with the signatures of keys.
    ///
    /// Before a log signs, it must check that the tree begins with the tree that it signed last. `Store.sign` does that.
    ///
    /// - Parameters:
    ///   - keys: the keys that sign.
    ///   - seconds: the time since 1970 that a witness states.
    package func signed(with keys: [SigningKey], seconds: UInt64) -> SignedNote {
        SignedNote(signing: bytes, with: keys, seconds: seconds)
    }
}

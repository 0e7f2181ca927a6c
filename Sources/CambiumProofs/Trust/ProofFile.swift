public import CambiumModel

/// A proof that a leaf is in a log, in one file that is checked without the log (C2SP tlog-proof).
///
/// ```swift
/// let head = try TreeHead(origin: "example.com/notes", size: 1, root: .leaf([1]))
/// let file = ProofFile(index: 0, path: [], checkpoint: head.text)
/// print(try ProofFile(parsing: Array(file.description.utf8)).index)
/// ```
public struct ProofFile: Sendable, CustomStringConvertible {
    /// Data of the application that the proof does not cover by itself; `nil` if there is none.
    public let extra: [UInt8]?
    /// The index of the leaf, from 0.
    public let index: UInt64
    /// The hashes beside the path from the leaf to the root, the sibling of the leaf first.
    public let path: [TreeHash]
    let checkpointBytes: [UInt8]

    /// The checkpoint: a signed note, or only its text without signatures.
    public var checkpoint: String { String(decoding: checkpointBytes, as: UTF8.self) }

    private static let header = "c2sp.org/tlog-proof@v1"
    /// The largest number of bytes of a file.
    public static let byteCountMax = 64 << 20

    /// Creates a file.
    public init(extra: [UInt8]? = nil, index: UInt64, path: [TreeHash], checkpoint: String) {
        (self.extra, self.index, self.path, checkpointBytes) = (extra, index, path, Array(checkpoint.utf8))
    }

    /// Reads a file, without checking the proof. Throws `.invalidInput` if the bytes are not such a file.
    public init(parsing bytes: [UInt8]) throws(CambiumError) {
        guard bytes.count <= Self.byteCountMax else { throw .malformed("proof", "it has more than \(Self.byteCountMax >> 20) MiB") }
        var lines = NoteLines(bytes[...])
        guard lines.next()?.elementsEqual(Self.header.utf8) == true else {
            throw .malformed("proof", "its first line is not \(Self.header)")
        }
        var line = lines.next() ?? []
        var extra: [UInt8]?
        if let text = NoteText.text(line, after: "extra ") {
            guard let bytes = Base64.bytes(text) else { throw .malformed("proof", "its line 'extra' is not base64") }
            extra = bytes
            line = lines.next() ?? []
        }
        guard let index = NoteText.text(line, after: "index ").flatMap({ NoteText.number($0) }) else {
            throw .malformed("proof", "it has no line 'index' with a number")
        }
        guard let path = NoteText.hashes(&lines) else {
            throw .malformed("proof", "a line before its empty line is not a hash in base64, or there are more than 63 of them")
        }
        (self.extra, self.index, self.path, checkpointBytes) = (extra, index, path, Array(lines.remaining))
        _ = try TreeHead.parts(ofCheckpoint: checkpointBytes)
    }

    /// The file as text.
    public var description: String {
        let extra = extra.map { "extra \(Base64.text($0))\n" } ?? ""
        return "\(Self.header)\n\(extra)index \(index)\n" + path.map { $0.base64 + "\n" }.joined() + "\n" + checkpoint
    }

    /// Checks that a leaf is in the tree, and that the tree is the one that `trust` accepts. Returns the head of the tree.
    ///
    /// Throws `.notProved` if the proof does not hold or the tree is not accepted, and `.invalidInput` if the checkpoint is malformed.
    public func check(_ leaf: TreeHash, trusting trust: Trust) throws(CambiumError) -> TreeHead {
        let head = try trust.head(ofCheckpoint: checkpoint)
        guard InclusionProof(index: index, size: head.size, path: path).root(of: leaf) == head.root else {
            throw CambiumError(.notProved, "The proof does not lead to the root of the tree, so it does not hold. Get it again.")
        }
        return head
    }
}

/// A checkpoint with a proof that it continues an earlier one: the request to a witness (C2SP tlog-witness, `add-checkpoint`).
///
/// ```swift
/// let head = try TreeHead(origin: "example.com/notes", size: 1, root: .leaf([1]))
/// let file = ConsistencyFile(oldSize: 0, path: [], checkpoint: head.text)
/// print(try ConsistencyFile(parsing: Array(file.description.utf8)).oldSize)
/// ```
public struct ConsistencyFile: Sendable, CustomStringConvertible {
    /// The size of the earlier tree.
    public let oldSize: UInt64
    /// The hashes, in the order of RFC 6962.
    public let path: [TreeHash]
    let checkpointBytes: [UInt8]

    /// The checkpoint: a signed note, or only its text without signatures.
    public var checkpoint: String { String(decoding: checkpointBytes, as: UTF8.self) }

    /// Creates a file.
    public init(oldSize: UInt64, path: [TreeHash], checkpoint: String) {
        (self.oldSize, self.path, checkpointBytes) = (oldSize, path, Array(checkpoint.utf8))
    }

    /// Reads a file, without checking the proof. Throws `.invalidInput` if the bytes are not such a file.
    public init(parsing bytes: [UInt8]) throws(CambiumError) {
        guard bytes.count <= SignedNote.byteCountMax else { throw .malformed("proof", "it has more than \(SignedNote.byteCountMax) bytes") }
        var lines = NoteLines(bytes[...])
        guard let old = lines.next().flatMap({ NoteText.text($0, after: "old ") }).flatMap({ NoteText.number($0) }) else {
            throw .malformed("proof", "it has no line 'old' with a number")
        }
        guard let path = NoteText.hashes(&lines) else {
            throw .malformed("proof", "a line before its empty line is not a hash in base64, or there are more than 63 of them")
        }
        (oldSize, self.path, checkpointBytes) = (old, path, Array(lines.remaining))
        _ = try TreeHead.parts(ofCheckpoint: checkpointBytes)
    }

    /// The file as text.
    public var description: String { "old \(oldSize)\n" + path.map { $0.base64 + "\n" }.joined() + "\n" + checkpoint }

    /// Checks that the tree continues the tree with an earlier root, and that `trust` accepts it. Returns the head of the tree.
    ///
    /// Throws `.notProved` if the proof does not hold or the tree is not accepted, and `.invalidInput` if the checkpoint is malformed.
    public func check(from oldRoot: TreeHash, trusting trust: Trust) throws(CambiumError) -> TreeHead {
        let head = try trust.head(ofCheckpoint: checkpoint)
        guard ConsistencyProof(oldSize: oldSize, size: head.size, path: path).holds(from: oldRoot, to: head.root) else {
            throw CambiumError(
                .notProved, "The tree of \(head.size) transactions does not continue the tree of \(oldSize). One of them was rewritten.")
        }
        return head
    }
}

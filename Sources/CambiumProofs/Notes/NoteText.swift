import CambiumModel

/// The lines of a text in the formats of C2SP: each ends with a line feed.
struct NoteLines {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// The bytes that follow the lines that were read.
    var remaining: ArraySlice<UInt8> { rest }

    /// Returns the next line without its line feed; `nil` if no line feed follows.
    mutating func next() -> ArraySlice<UInt8>? {
        guard let end = rest.firstIndex(of: NoteText.lineFeed) else { return nil }
        defer { rest = rest[(end + 1)...] }
        return rest[..<end]
    }
}

enum NoteText {
    static let lineFeed = UInt8(ascii: "\n")

    /// Returns the number that a text has in decimal, without leading zeros, up to 2^62; `nil` for any other text.
    static func number(_ text: some Collection<UInt8>) -> UInt64? {
        guard (1...19).contains(text.count), text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        if text.first == UInt8(ascii: "0"), text.count > 1 { return nil }
        let value = text.reduce(UInt64(0)) { $0 * 10 + UInt64($1 - 0x30) }
        return value <= MerkleProof.sizeMax ? value : nil
    }

    /// Returns the text after a prefix; `nil` if it does not begin with the prefix.
    static func text(_ line: ArraySlice<UInt8>, after prefix: String) -> ArraySlice<UInt8>? {
        line.starts(with: prefix.utf8) ? line.dropFirst(prefix.utf8.count) : nil
    }

    /// Returns whether bytes are UTF-8 without control characters, other than line feeds.
    static func isPlain(_ bytes: some Collection<UInt8>) -> Bool {
        !bytes.contains { $0 < 0x20 && $0 != lineFeed } && String(validating: bytes, as: UTF8.self) != nil
    }

    /// Returns whether a text can be the name of a key: not empty, and without spaces of Unicode, control characters and plus signs.
    static func isName(_ name: some Collection<UInt8>) -> Bool {
        guard !name.isEmpty, let text = String(validating: name, as: UTF8.self) else { return false }
        return !text.unicodeScalars.contains { $0.value < 0x20 || $0 == "+" || $0.properties.isWhitespace }
    }

    /// Reads hashes in base64, one a line, up to an empty line. Returns `nil` if a line is no hash, if there are too many, or if no empty
    /// line follows.
    static func hashes(_ lines: inout NoteLines) -> [TreeHash]? {
        var hashes: [TreeHash] = []
        while let line = lines.next() {
            if line.isEmpty { return hashes }
            guard hashes.count < MerkleProof.hashCountMax, let hash = TreeHash(base64: line) else { return nil }
            hashes.append(hash)
        }
        return nil
    }
}

extension CambiumError {
    /// Returns the error for a text that is not in the format that was expected.
    static func malformed(_ subject: String, _ flaw: String) -> CambiumError {
        CambiumError(.invalidInput, "The \(subject) is malformed: \(flaw). Get it again from its source.")
    }
}

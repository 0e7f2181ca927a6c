internal import CambiumLog
package import CambiumModel
internal import CambiumProofs

/// Computes the digest of a request from its parts: SHA-256 over each part and its length, cut to 16 bytes.
///
/// The same parts in the same order produce the same digest on every machine and with every version.
package struct RequestHasher {
    private var hash = ContentHash()
    /// The number of bytes of the current part.
    private var byteCount: UInt64 = 0

    package init() {}

    /// Adds a text as one part. Complexity: O(bytes).
    package mutating func add(_ part: String) {
        Array(part.utf8).withUnsafeBytes { append($0) }
        endPart()
    }

    /// Adds bytes to the current part, such as a piece of a file. Complexity: O(bytes).
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        byteCount += UInt64(bytes.count)
        hash.add(bytes)
    }

    /// Ends the current part, and adds its length to the hash. So the same bytes, divided into other parts, produce a different digest.
    package mutating func endPart() {
        withUnsafeBytes(of: byteCount.littleEndian) { hash.add($0) }
        byteCount = 0
    }

    /// Returns the digest of all parts.
    package func finish() -> RequestDigest {
        guard let digest = RequestDigest(hash.finish().prefix(RequestDigest.byteCount)) else {
            preconditionFailure("A SHA-256 hash has 32 bytes.")
        }
        return digest
    }
}

extension RequestDigest {
    /// Creates the digest of texts, each of which is one part. The same parts in the same order produce the same digest on every machine.
    package init(of parts: some Sequence<String>) {
        var hasher = RequestHasher()
        for part in parts { hasher.add(part) }
        self = hasher.finish()
    }
}

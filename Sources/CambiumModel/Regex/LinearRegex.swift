internal import CRE2

/// A regular expression that takes linear time on any text (RE2 syntax: no back-references).
///
/// SENDABLE: a compiled expression does not change, and RE2 guards its caches itself.
public final class LinearRegex: @unchecked Sendable {
    public let pattern: String
    private let regex: OpaquePointer

    public struct PatternError: Error, Hashable, Sendable {
        public let message: String
        /// In bytes, from the beginning of the pattern.
        public let offset: Int
    }

    public init(_ pattern: String) throws(PatternError) {
        self.pattern = pattern
        var text = pattern
        var offset = 0
        var message = [CChar](repeating: 0, count: 256)
        // SAFETY: both buffers are passed with their own lengths; the shim ends the message with a zero.
        let regex = text.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) { cre2_compile($0.baseAddress, $0.count, &message, message.count, &offset) }
        }
        guard let regex else {
            let bytes = message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            throw PatternError(message: String(decoding: bytes, as: UTF8.self), offset: offset)
        }
        self.regex = regex
    }

    deinit { cre2_free(regex) }

    /// Whether the whole text matches. Complexity: O(bytes).
    public func matchesWhole(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) { cre2_matches_whole(regex, $0.baseAddress, $0.count) != 0 }
        }
    }
}

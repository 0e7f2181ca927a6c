internal import CRE2
import Synchronization

/// A regular expression that takes linear time on any text (RE2 syntax: no back-references).
///
/// An expression takes up to 8 MiB of memory. An expression made by `init(compiledBefore:)` takes none before its first use.
///
/// SENDABLE: a compiled expression does not change, RE2 guards its caches itself, and the only reference to it is atomic.
package final class LinearRegex: @unchecked Sendable {
    package let pattern: String
    private let compiled: Atomic<OpaquePointer?>

    package struct PatternError: Error, Hashable, Sendable {
        package let message: String
        /// The byte offset from the beginning of the pattern.
        package let offset: Int
    }

    /// Compiles a pattern. Throws if the pattern is malformed, or needs more memory than the limit of an expression.
    package init(_ pattern: String) throws(PatternError) {
        self.pattern = pattern
        compiled = Atomic(try Self.compile(pattern))
    }

    /// Accepts a pattern that was compiled before, and compiles it at its first use.
    package init(compiledBefore pattern: String) {
        self.pattern = pattern
        compiled = Atomic(nil)
    }

    deinit { if let regex = compiled.load(ordering: .acquiring) { cre2_free(regex) } }

    private static func compile(_ pattern: String) throws(PatternError) -> OpaquePointer {
        var text = pattern
        var offset = 0
        var message = [CChar](repeating: 0, count: 256)
        // SAFETY: both buffers are passed with their own lengths, and the shim terminates the message with a zero byte.
        let regex = text.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) { cre2_compile($0.baseAddress, $0.count, &message, message.count, &offset) }
        }
        guard let regex else {
            let bytes = message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            throw PatternError(message: String(decoding: bytes, as: UTF8.self), offset: offset)
        }
        return regex
    }

    /// The compiled expression, or `nil` if the pattern is malformed. Only a forged log contains a malformed pattern.
    private var regex: OpaquePointer? {
        if let regex = compiled.load(ordering: .acquiring) { return regex }
        guard let made = try? Self.compile(pattern) else { return nil }
        let (isFirst, first) = compiled.compareExchange(expected: nil, desired: made, ordering: .acquiringAndReleasing)
        // Another thread has stored its expression first.
        if !isFirst { cre2_free(made) }
        return isFirst ? made : first
    }

    /// Whether the whole text matches. No text matches a malformed pattern. Complexity: O(bytes).
    package func matchesWhole(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { matchesWhole(UnsafeRawBufferPointer($0)) }
    }

    /// Whether the whole text matches. Its bytes must be UTF-8.
    package func matchesWhole(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let regex else { return false }
        return text.withMemoryRebound(to: CChar.self) { cre2_matches_whole(regex, $0.baseAddress, $0.count) != 0 }
    }

    /// Whether the expression was compiled, so that it takes memory.
    var isCompiled: Bool { compiled.load(ordering: .acquiring) != nil }
}

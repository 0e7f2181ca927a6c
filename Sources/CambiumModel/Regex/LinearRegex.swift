internal import CRE2
import Synchronization

/// A regular expression in RE2 syntax, which has no back-references. Matching takes time that is linear in the length of the text.
///
/// A compiled expression takes up to 8 MiB of memory. An expression from `init(compiledBefore:)` is compiled at its first use, and takes no
/// memory before that.
///
/// SENDABLE: a compiled expression does not change, and RE2 protects its own caches. The only mutable field is an atomic pointer.
package final class LinearRegex: @unchecked Sendable {
    package let pattern: String
    private let compiled: Atomic<OpaquePointer?>

    package struct PatternError: Error, Hashable, Sendable {
        package let message: String
        /// The byte offset from the beginning of the pattern.
        package let offset: Int
    }

    /// Compiles a pattern. Throws if the pattern is malformed, or if the compiled expression would need too much memory.
    package init(_ pattern: String) throws(PatternError) {
        self.pattern = pattern
        compiled = Atomic(try Self.compile(pattern))
    }

    /// Creates an expression from a pattern that was compiled successfully earlier. The expression is compiled again at its first use.
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

    /// The compiled expression, or `nil` if the pattern is malformed. Every writer checks patterns, so only a forged log has a malformed
    /// one.
    private var regex: OpaquePointer? {
        if let regex = compiled.load(ordering: .acquiring) { return regex }
        guard let made = try? Self.compile(pattern) else { return nil }
        let (isFirst, first) = compiled.compareExchange(expected: nil, desired: made, ordering: .acquiringAndReleasing)
        // If another thread has stored an expression first, that expression is used.
        if !isFirst { cre2_free(made) }
        return isFirst ? made : first
    }

    /// Whether the whole text matches. No text matches a malformed pattern. Complexity: O(bytes).
    package func matchesWhole(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { matchesWhole(UnsafeRawBufferPointer($0)) }
    }

    /// Whether the whole text matches. The bytes of the text must be UTF-8.
    package func matchesWhole(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let regex else { return false }
        return text.withMemoryRebound(to: CChar.self) { cre2_matches_whole(regex, $0.baseAddress, $0.count) != 0 }
    }

    /// Whether the expression has been compiled, and therefore takes memory. Tests use this property.
    var isCompiled: Bool { compiled.load(ordering: .acquiring) != nil }
}

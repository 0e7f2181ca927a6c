import Glibc

/// Ends the process after a programming error, or if the operating system has no memory or threads left.
///
/// `precondition` prints its sentence in debug builds only. `Trap` prints the sentence on stderr in every build, so that a crash report
/// from production states the error.
public enum Trap {
    /// Prints a sentence on stderr and ends the process with a signal.
    @inline(never)
    public static func because(_ sentence: String) -> Never {
        var bytes = Array("cambium: \(sentence)\n".utf8)[...]
        while !bytes.isEmpty {
            // SAFETY: the bytes exist during the call, and their number is passed with them.
            let count = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if count <= 0 { break }
            bytes = bytes.dropFirst(count)
        }
        abort()
    }

    /// Ends the process with a sentence unless a condition is true.
    @inlinable @inline(__always)
    public static func unless(_ condition: Bool, _ sentence: @autoclosure () -> String) {
        if !condition { because(sentence()) }
    }
}

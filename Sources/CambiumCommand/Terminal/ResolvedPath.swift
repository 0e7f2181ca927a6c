import Glibc

extension String {
    /// The path to which a path such as `.`, or a link, leads; `nil` if nothing exists there.
    var resolvedPath: String? {
        guard let found = realpath(self, nil) else { return nil }
        defer { free(found) }
        // SAFETY: the operating system terminates the text with a zero byte, and the text is freed only after this use.
        return String(cString: found)
    }
}

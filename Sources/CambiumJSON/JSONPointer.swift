/// JSON pointers (RFC 6901). Keys are escaped and read as Unicode scalars, because a combining mark after `~` or `/` would merge with the
/// sign into one `Character`.
package enum JSONPointer {
    /// Returns a key with `~` as `~0` and `/` as `~1`. Complexity: O(bytes).
    package static func escaped(_ key: String) -> String {
        var text = String.UnicodeScalarView()
        for scalar in key.unicodeScalars {
            switch scalar {
            case "~": text.append(contentsOf: "~0".unicodeScalars)
            case "/": text.append(contentsOf: "~1".unicodeScalars)
            default: text.append(scalar)
            }
        }
        return String(text)
    }

    /// Returns the keys and indexes of a pointer, without escapes. Complexity: O(bytes).
    package static func keys(_ pointer: String) -> [String] {
        pointer.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(key)
    }

    private static func key(_ escaped: Substring.UnicodeScalarView) -> String {
        var text = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in escaped {
            switch scalar {
            case "0" where isEscaped: text.append("~")
            case "1" where isEscaped: text.append("/")
            case "~": break
            default: text.append(scalar)
            }
            isEscaped = scalar == "~"
        }
        return String(text)
    }
}

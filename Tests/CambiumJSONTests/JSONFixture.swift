import CambiumJSON

/// Parsing in one line.
enum JSONFixture {
    /// Returns the error of parsing, or `nil` if the text is valid.
    static func error(_ bytes: [UInt8], with parser: JSONParser = JSONParser()) -> JSONError? {
        bytes.withUnsafeBytes { bytes in
            do throws(JSONError) {
                _ = try parser.parse(bytes)
                return nil
            } catch {
                return error
            }
        }
    }

    static func error(_ text: String) -> JSONError? { error(Array(text.utf8)) }

    static func value(_ text: String) throws -> JSONValue { try JSONValue(parsing: text.utf8) }

    static func nested(_ depth: Int, _ open: String = "[", _ close: String = "]") -> String {
        String(repeating: open, count: depth) + String(repeating: close, count: depth)
    }

    /// Returns an object with the keys k0, k1 and so on, and with `extra` as its last member.
    static func object(keys: Int, extra: String = "") -> String {
        let members = (0..<keys).map { "\"k\($0)\":\($0)" } + (extra.isEmpty ? [] : [extra])
        return "{" + members.joined(separator: ",") + "}"
    }
}

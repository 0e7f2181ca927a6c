/// The content of a lock file: the id of the process that has the lock, for messages only.
///
/// The file is never truncated, so spaces fill the text to a fixed length.
enum LockHolder {
    static let byteCount = 21

    static func bytes(_ process: Int32?) -> [UInt8] {
        let digits = process.map { String($0) } ?? ""
        return Array((digits + String(repeating: " ", count: max(0, byteCount - 1 - digits.utf8.count)) + "\n").utf8)
    }

    /// Whether these bytes are the content of a lock file, which may be incomplete after a power failure. Such a file may be overwritten.
    /// Other bytes belong to a user's file, which must stay unchanged.
    static func isOne(_ bytes: [UInt8]) -> Bool {
        bytes.count <= byteCount
            && bytes.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || [0, UInt8(ascii: " "), UInt8(ascii: "\n")].contains($0)
            }
    }

    /// Returns the process id in the content of a lock file, or `nil` if there is no id.
    static func process(_ bytes: [UInt8]) -> Int32? {
        let digits = bytes.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return isOne(bytes) ? Int32(String(decoding: digits, as: UTF8.self)) : nil
    }
}

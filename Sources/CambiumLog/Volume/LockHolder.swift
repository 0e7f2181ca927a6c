/// What stands in the file of a lock: the number of the process that has it, for messages only.
///
/// The file is never truncated, so the text always has the same length, filled up with spaces.
enum LockHolder {
    static let byteCount = 21

    static func bytes(_ process: Int32?) -> [UInt8] {
        let digits = process.map { String($0) } ?? ""
        return Array((digits + String(repeating: " ", count: max(0, byteCount - 1 - digits.utf8.count)) + "\n").utf8)
    }

    /// Whether bytes are those of such a file, also of one that a loss of power left. Anything else is not overwritten.
    static func isOne(_ bytes: [UInt8]) -> Bool {
        bytes.count <= byteCount
            && bytes.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || [0, UInt8(ascii: " "), UInt8(ascii: "\n")].contains($0)
            }
    }

    /// The number in such a file; `nil` if there is none.
    static func process(_ bytes: [UInt8]) -> Int32? {
        let digits = bytes.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return isOne(bytes) ? Int32(String(decoding: digits, as: UTF8.self)) : nil
    }
}

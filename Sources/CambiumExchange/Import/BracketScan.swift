/// Finds the end of a JSON value, even if the input is read in parts that end within the value.
///
/// A string contains no line end. So a string without a closing quotation mark ends at the end of its line, and a malformed value does not
/// extend over the values after it.
struct BracketScan {
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var scanned = 0

    /// Returns the offset after the value that begins at the buffer's first byte. Returns `nil` if the buffer ends within the value. The
    /// caller then passes the same bytes again, followed by more bytes, and the scan continues where it stopped.
    mutating func end(in bytes: UnsafeRawBufferPointer) -> Int? {
        var index = scanned
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                    if depth == 0 { return index }
                } else if byte == UInt8(ascii: "\n") {
                    isInString = false
                    if depth == 0 { return index - 1 }
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return index - 1 }
                depth -= 1
                if depth == 0 { return index }
            case UInt8(ascii: ","), UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                if depth == 0 { return index - 1 }
            default: break
            }
        }
        scanned = index
        return nil
    }
}

internal import CambiumModel

extension ModelXML {
    /// Rejects elements with too many XML attributes. Counts the equals signs outside of values, because each attribute has one.
    ///
    /// In well-formed XML, this check and the XML parser find the same values and comments. In other XML, the parser stops at the first
    /// mistake. Quotation marks in a document type need not come in pairs, so every equals sign after the beginning of a document type
    /// counts.
    static func checkAttributeCounts(_ bytes: [UInt8], file: String) throws(CambiumError) {
        var index = 0
        while let start = bytes[index...].firstIndex(of: UInt8(ascii: "<")) {
            let next = start + 1 < bytes.count ? bytes[start + 1] : nil
            if next == UInt8(ascii: "!") {
                guard let quoted = quotations.first(where: { bytes[start...].starts(with: $0.start) }) else {
                    return try checkEqualsSigns(bytes, from: start, file: file)
                }
                guard let end = offset(of: quoted.end, in: bytes, from: start + quoted.start.count) else { return }
                index = end
            } else if next == UInt8(ascii: "?") {
                index = start + 1
            } else {
                index = try endOfTag(bytes, from: start + 1, file: file)
            }
        }
    }

    /// The delimiters of comments and of CDATA sections. Between these delimiters, no character has a special meaning.
    private static let quotations = [("<!--", "-->"), ("<![CDATA[", "]]>")].map { (start: Array($0.utf8), end: Array($1.utf8)) }

    /// Returns the offset of the character that ends a tag. If the tag has no proper end, this character may be inside a later value.
    private static func endOfTag(_ bytes: [UInt8], from first: Int, file: String) throws(CambiumError) -> Int {
        var count = 0
        var quote: UInt8?
        for index in first..<bytes.count {
            let byte = bytes[index]
            if let open = quote {
                if byte == open { quote = nil }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = byte
            case UInt8(ascii: ">"), UInt8(ascii: "<"): return index
            case UInt8(ascii: "="):
                count += 1
                if count > attributeCountMax { throw tooManyAttributes(at: index, bytes, file) }
            default: break
            }
        }
        return bytes.count
    }

    /// Rejects markup with too many equals signs, including the equals signs in values and in the text after the markup.
    private static func checkEqualsSigns(_ bytes: [UInt8], from first: Int, file: String) throws(CambiumError) {
        var count = 0
        for index in first..<bytes.count {
            if bytes[index] == UInt8(ascii: "<") { count = 0 }
            if bytes[index] == UInt8(ascii: "=") { count += 1 }
            if count > attributeCountMax { throw tooManyAttributes(at: index, bytes, file) }
        }
    }

    private static func tooManyAttributes(at offset: Int, _ bytes: [UInt8], _ file: String) -> CambiumError {
        let line = 1 + bytes[..<offset].count { $0 == UInt8(ascii: "\n") }
        return CambiumError(
            .limitExceeded, "An element has more than \(attributeCountMax) attributes. Remove some of them.",
            place: .init(file: file, line: line))
    }
}

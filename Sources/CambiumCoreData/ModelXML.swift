internal import CambiumModel
internal import Foundation

#if canImport(FoundationXML)
    internal import FoundationXML
#endif

/// Reads XML that may come from an attacker. The parser accepts no XML entities and no external resources, and its input is limited in size
/// and depth.
enum ModelXML {
    /// The maximum depth of nested elements. Models have 5 levels. The limit bounds the recursion when a tree is released.
    static let depthMax = 64
    static let elementCountMax = 100_000
    /// The maximum number of attributes of an element. The number is limited, because XML parsers compare each attribute with every other
    /// attribute of the element.
    static let attributeCountMax = 1000

    /// Parses a text, and returns its root element.
    static func parse(_ bytes: [UInt8], file: String) throws(CambiumError) -> ModelElement {
        if bytes.count > ModelFile.byteCountMax {
            throw CambiumError(
                .limitExceeded,
                "The file is larger than 16 MiB, which is the maximum for a Core Data model. Check that the path leads to such a model.",
                place: .init(file: file))
        }
        try checkText(bytes, file: file)
        let builder = ElementTree(file: file)
        // The text is passed as a stream, in several pieces. libxml2 rejects a single piece of more than 10 MB.
        let parser = XMLParser(stream: InputStream(data: Data(bytes)))
        parser.shouldResolveExternalEntities = false
        parser.delegate = builder
        let isComplete = parser.parse()
        if let failure = builder.failure { throw failure }
        guard isComplete, let root = builder.root else {
            throw CambiumError(
                .invalidInput, "The file is not XML: it has no element. Pass an '.xcdatamodeld' folder.", place: .init(file: file, line: 1))
        }
        return root
    }

    /// Rejects text that is dangerous for the XML parser: declarations, processing instructions, and elements with too many XML attributes.
    /// Also rejects encodings in which the search for declarations would fail.
    private static func checkText(_ bytes: [UInt8], file: String) throws(CambiumError) {
        if bytes.starts(with: Array("bplist".utf8)) {
            throw CambiumError(
                .invalidInput,
                "The file is a binary property list, such as a compiled model. Pass the '.xcdatamodeld' folder of the model.",
                place: .init(file: file))
        }
        let hasZero = bytes.firstIndex(of: 0) != nil
        if hasZero || String(validating: bytes, as: UTF8.self) == nil {
            throw CambiumError(.invalidInput, "The file is not text in UTF-8. Save the file in UTF-8.", place: .init(file: file, line: 1))
        }
        try checkEncoding(bytes, file: file)
        try checkAttributeCounts(bytes, file: file)
        for markup in declarations {
            if let offset = offset(of: Array(markup.utf8), in: bytes, from: 0) {
                throw refused(
                    "The file has a declaration ('\(markup)'), which a Core Data model never has. Remove the declaration.",
                    at: offset, bytes, file)
            }
        }
        let mark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let declaration = Array("<?xml".utf8)
        let start = bytes[mark...].starts(with: declaration) && bytes.dropFirst(mark + declaration.count).first.map(isSpace) == true
        if let offset = offset(of: Array("<?".utf8), in: bytes, from: start ? mark + 1 : 0) {
            throw refused(
                "The file has a processing instruction, which a Core Data model never has. Remove the instruction.",
                at: offset, bytes, file)
        }
    }

    /// Declarations that a file must not have. XML entities can expand without limit. An incomplete declaration of another kind, or an
    /// incomplete processing instruction, makes Foundation's parser read from a null pointer.
    private static let declarations = ["<!ENTITY", "<!ATTLIST", "<!ELEMENT", "<!NOTATION"]

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    private static func refused(_ message: String, at offset: Int, _ bytes: [UInt8], _ file: String) -> CambiumError {
        let line = 1 + bytes[..<offset].count { $0 == UInt8(ascii: "\n") }
        let lineStart = bytes[..<offset].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return CambiumError(.invalidInput, message, place: .init(file: file, line: line, column: offset - lineStart + 1))
    }

    /// Rejects an encoding other than UTF-8. The search for declarations would not find declarations in another encoding.
    private static func checkEncoding(_ bytes: [UInt8], file: String) throws(CambiumError) {
        guard let end = bytes.firstIndex(of: UInt8(ascii: ">")) else { return }
        let declaration = String(decoding: bytes[..<end], as: UTF8.self)
        guard declaration.contains("<?xml"), let key = declaration.range(of: "encoding") else { return }
        let value = declaration[key.upperBound...].split(whereSeparator: { $0 == "\"" || $0 == "'" })
        guard value.count > 1, ["utf-8", "us-ascii", "ascii"].contains(value[1].lowercased()) else {
            throw CambiumError(
                .invalidInput, "The file has an encoding other than UTF-8. Save the file in UTF-8.", place: .init(file: file, line: 1))
        }
    }

    static func offset(of word: [UInt8], in bytes: [UInt8], from first: Int) -> Int? {
        var start = first
        while let found = bytes[start...].firstIndex(of: word[0]) {
            if bytes[found...].starts(with: word) { return found }
            start = found + 1
        }
        return nil
    }
}

/// Builds a tree from the parser's events, without recursion.
private final class ElementTree: NSObject, XMLParserDelegate {
    private(set) var root: ModelElement?
    private(set) var failure: CambiumError?
    private let file: String
    private var open: [ModelElement] = []
    private var count = 0

    init(file: String) { self.file = file }

    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName: String?,
        attributes attributeDict: [String: String]
    ) {
        if failure != nil { return }
        count += 1
        if open.count == ModelXML.depthMax {
            let message =
                "The elements of the file nest more than \(ModelXML.depthMax) levels deep. Check that the file is a Core Data model."
            return stop(parser, .limitExceeded, message)
        }
        if count > ModelXML.elementCountMax {
            return stop(parser, .limitExceeded, "The model has more than \(ModelXML.elementCountMax) elements. Use a smaller model.")
        }
        open.append(
            ModelElement(
                name: elementName, attributes: attributeDict.mapValues { CanonicalText.ordered($0) }, line: parser.lineNumber,
                column: parser.columnNumber))
    }

    func parser(_ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName: String?) {
        guard failure == nil, let element = open.popLast() else { return }
        if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        if failure == nil, !open.isEmpty { open[open.count - 1].text += string }
    }

    func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
        let message = "The file is not well-formed XML. Check that it is a Core Data model, and save the model again in Xcode."
        stop(parser, .invalidInput, message, underlying: parseError)
    }

    private func stop(_ parser: XMLParser, _ code: CambiumError.Code, _ message: String, underlying: (any Error)? = nil) {
        // The parser reports another error after this code has aborted the parser. Only the first error states the cause.
        if failure != nil { return }
        let place = CambiumError.Place(file: file, line: parser.lineNumber, column: parser.columnNumber)
        failure = CambiumError(code, message, place: place, underlying: underlying)
        parser.abortParsing()
    }
}

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

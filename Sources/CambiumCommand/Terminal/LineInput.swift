import Cambium

/// Reads the lines of standard input.
final class LineInput {
    /// The maximum number of bytes of a line.
    private static let byteCountMax = 1 << 20

    private let read: ImportSource.Reader
    private var bytes: [UInt8] = []
    /// The number of bytes of `bytes` that were returned as lines.
    private var start = 0
    private var isFirst = true
    private var isAtEnd = false

    init(_ source: ImportSource = Terminal.input) throws { read = try source.open() }

    /// Returns the bytes of the next line without its end, or `nil` at the end of the input. Omits a byte order mark before the first line.
    func next() throws -> ArraySlice<UInt8>? {
        while true {
            if let end = bytes[start...].firstIndex(of: 0x0A) { return line(to: end) }
            if isAtEnd { return start == bytes.count ? nil : line(to: bytes.count) }
            try fill()
        }
    }

    private func line(to end: Int) -> ArraySlice<UInt8> {
        var line = bytes[start..<end]
        if isFirst, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
        (start, isFirst) = (min(end + 1, bytes.count), false)
        return line.last == 0x0D ? line.dropLast() : line
    }

    private func fill() throws {
        bytes.removeSubrange(..<start)
        start = 0
        guard bytes.count <= Self.byteCountMax else {
            bytes.removeAll()
            isAtEnd = true
            throw CambiumError(.limitExceeded, "A line of standard input has more than \(Self.byteCountMax) bytes. Shorten it.")
        }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = try buffer.withUnsafeMutableBytes { try read($0) }
        isAtEnd = count == 0
        bytes.append(contentsOf: buffer[..<count])
    }

    /// Returns the text of a line. Throws `.invalidInput` if the line is not UTF-8.
    static func text(of line: ArraySlice<UInt8>) throws(CambiumError) -> String {
        guard let text = String(validating: line, as: UTF8.self) else {
            throw CambiumError(.invalidInput, "The line is not UTF-8. Write it in UTF-8.")
        }
        return text
    }
}

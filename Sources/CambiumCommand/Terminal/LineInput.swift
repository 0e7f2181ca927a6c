import Cambium

/// Reads the lines of standard input.
final class LineInput {
    /// The maximum number of bytes of a line.
    private static let byteCountMax = 1 << 20

    private let read: ImportSource.Reader
    private var bytes: [UInt8] = []
    /// The number of bytes of `bytes` that were returned as lines.
    private var start = 0
    private var isAtEnd = false

    init(_ source: ImportSource = Terminal.input) throws { read = try source.open() }

    /// Returns the next line without its end, or `nil` at the end of the input. Throws `.invalidInput` if the line is not UTF-8.
    func next() throws -> String? {
        while true {
            if let end = bytes[start...].firstIndex(of: 0x0A) {
                defer { start = end + 1 }
                return try text(bytes[start..<end])
            }
            if isAtEnd {
                if start == bytes.count { return nil }
                defer { start = bytes.count }
                return try text(bytes[start...])
            }
            try fill()
        }
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

    private func text(_ line: ArraySlice<UInt8>) throws -> String {
        guard let text = String(validating: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self) else {
            throw CambiumError(.invalidInput, "A line of standard input is not UTF-8. Write it in UTF-8.")
        }
        return text
    }
}

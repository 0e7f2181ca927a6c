import Cambium

#if canImport(Glibc)
    import Glibc
#endif

/// The streams of the process. What is written to a pipe that nobody reads any more ends the program quietly.
enum Terminal {
    static var isInteractive: Bool { isatty(STDOUT_FILENO) == 1 }

    static func print(_ text: String) { write(Array((text + "\n").utf8), to: STDOUT_FILENO) }
    static func error(_ text: String) { write(Array(text.utf8), to: STDERR_FILENO) }
    static func write(_ bytes: [UInt8]) { write(bytes, to: STDOUT_FILENO) }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        bytes.withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count {
                let rest = UnsafeRawBufferPointer(rebasing: buffer[done...])
                let put = Glibc.write(descriptor, rest.baseAddress, rest.count)
                if put < 0, errno != EINTR { Glibc.exit(errno == EPIPE ? 0 : 74) }
                if put > 0 { done += put }
            }
        }
    }

    /// Standard input, as a source of an import.
    static let input = ImportSource(name: "standard input", isRepeatable: false) {
        { buffer in
            while true {
                let count = read(STDIN_FILENO, buffer.baseAddress, buffer.count)
                if count >= 0 { return count }
                if errno != EINTR { throw CambiumError(.ioFailure, "Standard input cannot be read: \(String(cString: strerror(errno))).") }
            }
        }
    }

    /// Everything in a file, of at most 64 MiB unless said otherwise.
    static func contents(of path: String, byteCountMax: Int = 64 << 20) throws -> [UInt8] {
        let source = path == "-" ? input : ImportSource.file(path)
        let reader = try source.open()
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = try buffer.withUnsafeMutableBytes { try reader($0) }
            if count == 0 { return bytes }
            bytes.append(contentsOf: buffer[..<count])
            guard bytes.count <= byteCountMax else {
                throw CambiumError(.limitExceeded, "The file has more than \(byteCountMax >> 20) MiB.", place: .init(file: path))
            }
        }
    }
}

/// Numbers as people read them.
enum Readable {
    /// With a comma after every three digits.
    static func count(_ value: Int) -> String {
        let digits = String(value.magnitude)
        var groups: [Substring] = []
        var rest = digits[...]
        while rest.count > 3 {
            groups.insert(rest.suffix(3), at: 0)
            rest = rest.dropLast(3)
        }
        return (value < 0 ? "-" : "") + ([rest] + groups).joined(separator: ",")
    }

    static func bytes(_ value: Int) -> String {
        let units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
        var size = Double(value)
        var unit = 0
        while size >= 1024, unit < units.count - 1 {
            size /= 1024
            unit += 1
        }
        return unit == 0 ? "\(value) bytes" : "\(tenths(size)) \(units[unit])"
    }

    static func seconds(_ duration: Duration) -> String {
        let microseconds = duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000
        if microseconds < 1000 { return "\(microseconds) µs" }
        if microseconds < 1_000_000 { return "\(tenths(Double(microseconds) / 1000)) ms" }
        return "\(tenths(Double(microseconds) / 1_000_000)) s"
    }

    private static func tenths(_ value: Double) -> String {
        let scaled = Int((value * 10).rounded())
        return scaled >= 1000 ? "\(count(scaled / 10))" : "\(scaled / 10).\(scaled % 10)"
    }

    /// "1 object", "2 objects".
    static func of(_ value: Int, _ noun: String) -> String { "\(count(value)) \(noun)\(value == 1 ? "" : "s")" }
}

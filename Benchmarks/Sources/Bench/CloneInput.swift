import Cambium
import Glibc

/// The generated data with a UUID for each uid, in several orders of its lines.
enum CloneInput: String {
    /// The generated order, in which the lines of a tree are neighbors.
    case ordered
    /// The data twice: after each line, a copy of the line for a second tree follows.
    case interleaved
    /// A random order.
    case shuffled

    /// Writes the input and returns its path.
    func write(_ settings: Settings) throws -> String {
        let path = "\(settings.work)/clones-\(rawValue).jsonl"
        var lines = try File.bytes(settings.input(settings.synth)).split(separator: UInt8(ascii: "\n"))
        if self == .shuffled {
            var random = SplitMix(seed: 11)
            for index in lines.indices.reversed() { lines.swapAt(index, random.below(index + 1)) }
        }
        var output: [UInt8] = []
        output.reserveCapacity(lines.count * 200)
        for line in lines {
            Self.append(line, second: false, to: &output)
            if self == .interleaved { Self.append(line, second: true, to: &output) }
        }
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        guard file >= 0 else { throw Failure("cannot create \(path): \(String(cString: strerror(errno)))") }
        defer { close(file) }
        var done = 0
        while done < output.count {
            let count = output.withUnsafeBytes { Glibc.write(file, $0.baseAddress.map { $0 + done }, $0.count - done) }
            guard count > 0 else { throw Failure("cannot write \(path): \(String(cString: strerror(errno)))") }
            done += count
        }
        return path
    }

    /// Returns the UUID that replaces a uid.
    static func uuid(_ uid: String, second: Bool = false) -> String {
        let digits = Array(uid)
        let groups = [digits[0..<8], digits[8..<12], digits[12..<16]].map { String($0) }
        return groups.joined(separator: "-") + "-8000-00000000000" + (second ? "1" : "0")
    }

    /// Copies a line, and replaces each text of 16 hexadecimal digits with a UUID.
    private static func append(_ line: ArraySlice<UInt8>, second: Bool, to output: inout [UInt8]) {
        let tail = Array("-8000-00000000000".utf8) + [UInt8(ascii: second ? "1" : "0")]
        var index = line.startIndex
        while index < line.endIndex {
            guard line[index] == UInt8(ascii: "\""), index + 17 < line.endIndex, line[index + 17] == UInt8(ascii: "\""),
                line[index + 1..<index + 17].allSatisfy(isDigit)
            else {
                output.append(line[index])
                index += 1
                continue
            }
            for offset in 0..<17 {
                if offset == 9 || offset == 13 { output.append(UInt8(ascii: "-")) }
                output.append(line[index + offset])
            }
            output.append(contentsOf: tail)
            index += 17
        }
        output.append(UInt8(ascii: "\n"))
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") || byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "f")
    }
}

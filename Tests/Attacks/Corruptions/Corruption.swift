import CambiumTesting
import Foundation

/// A corruption of one file of a sample store or of its archive.
struct Corruption: Sendable {
    let kind: CorruptionKind
    let sample: SampleKind
    /// The path relative to the site, such as `store/HEAD`.
    let file: String

    /// The beginning of the names of the attacks with this corruption, such as `corruptions/small/store/HEAD/removed`.
    var name: String { "corruptions/\(sample.rawValue)/\(file)/\(kind.rawValue)" }

    /// Corrupts the file in a site (a directory with a store). Returns `false` if this corruption is not possible for this file.
    ///
    /// - Parameters:
    ///   - earlier: a copy of the store after the first half of its transactions.
    ///   - other: a site with another store of the same shape.
    func apply(in site: String, earlier: String, other: String, _ random: inout SplitMix64) throws -> Bool {
        let path = site + "/" + file
        var bytes = try Self.bytes(path)
        let original = bytes
        switch kind {
        case .bitAtStart, .bitInMiddle, .bitAtEnd, .byteZeroed, .blockZeroed: change(&bytes, &random)
        case .cutToNothing: bytes = []
        case .cutToFifty: bytes = Array(bytes.prefix(50))
        case .cutToHalf: bytes = Array(bytes.prefix(bytes.count / 2))
        case .cutByOne: bytes = bytes.dropLast()
        case .byteAppended: bytes.append(UInt8.random(in: 1...255, using: &random))
        case .garbageAppended: bytes += (0..<4096).map { _ in UInt8.random(in: 0...255, using: &random) }
        case .zerosAppended: bytes += [UInt8](repeating: 0, count: 4096)
        case .headerForged: HeaderForgery.apply(to: &bytes, of: file, &random)
        case .older:
            guard file.hasPrefix("store/"), let older = try? Self.bytes(earlier + file.dropFirst(5)) else {
                return false  // The earlier store did not have this file.
            }
            bytes = older
        case .foreign:
            guard let foreign = try? Self.bytes(other + "/" + file) else { return false }  // The other store uses another random name.
            bytes = foreign
        case .noPermission:
            chmod(path, 0)
            return true
        case .removed, .emptyDirectory, .fifo, .linkOutside, .linkToCopy, .danglingLink, .duplicated, .swapped:
            return try replace(path, in: site, bytes, &random)
        }
        if bytes == original { return false }
        try Data(bytes).write(to: URL(filePath: path))
        return true
    }

    private func change(_ bytes: inout [UInt8], _ random: inout SplitMix64) {
        guard !bytes.isEmpty else { return }
        let bit = UInt8(1) << UInt8.random(in: 0...7, using: &random)
        switch kind {
        case .bitAtStart: bytes[0] ^= bit
        case .bitInMiddle: bytes[bytes.count / 2] ^= bit
        case .bitAtEnd: bytes[bytes.count - 1] ^= bit
        case .byteZeroed:
            let places = bytes.indices.filter { bytes[$0] != 0 }
            if let place = random.pick(places) { bytes[place] = 0 }
        default:
            let start = Int.random(in: 0...max(0, bytes.count - 1024), using: &random)
            for place in start..<min(bytes.count, start + 1024) { bytes[place] = 0 }
        }
    }

    /// Replaces the file with a directory, a FIFO or a link, copies it to the next name, or exchanges its content with another file.
    private func replace(_ path: String, in site: String, _ bytes: [UInt8], _ random: inout SplitMix64) throws -> Bool {
        let manager = FileManager.default
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        let outside = String(repeating: "../", count: file.split(separator: "/").count - 1) + "outside/" + name
        switch kind {
        case .duplicated:
            let copy = path.dropLast(name.utf8.count) + Self.nextName(name)
            guard !manager.fileExists(atPath: String(copy)) else { return false }
            try manager.copyItem(atPath: path, toPath: String(copy))
            return true
        case .swapped:
            let others = try Tree(site + "/store").files.map { "store/" + $0 }.filter { $0 != file && $0 != "store/keep.txt" }
            guard let other = random.pick(others) else { return false }
            let otherBytes = try Self.bytes(site + "/" + other)
            if otherBytes == bytes { return false }
            try Data(otherBytes).write(to: URL(filePath: path))
            try Data(bytes).write(to: URL(filePath: site + "/" + other))
            return true
        default: break
        }
        try manager.removeItem(atPath: path)
        switch kind {
        case .emptyDirectory: try manager.createDirectory(atPath: path, withIntermediateDirectories: false)
        case .fifo: mkfifo(path, 0o644)
        case .linkOutside, .linkToCopy:
            let content = kind == .linkToCopy ? Data(bytes) : Data("foreign bytes\n".utf8)
            try content.write(to: URL(filePath: site + "/outside/" + name))
            try manager.createSymbolicLink(atPath: path, withDestinationPath: outside)
        case .danglingLink: try manager.createSymbolicLink(atPath: path, withDestinationPath: outside)
        default: break
        }
        return true
    }

    /// Returns `00000000000000000008.log` for `00000000000000000007.log`. Appends `.new` to a name without a number.
    private static func nextName(_ name: String) -> String {
        guard let range = name.firstRange(of: /[0-9a-f]{8,}/), let number = UInt64(name[range], radix: name.contains("pages") ? 16 : 10)
        else {
            return name + ".new"
        }
        let digits = String(number &+ 1, radix: name.contains("pages") ? 16 : 10)
        let width = name.distance(from: range.lowerBound, to: range.upperBound)
        return name.replacingCharacters(in: range, with: String(repeating: "0", count: max(0, width - digits.count)) + digits)
    }

    private static func bytes(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }
}

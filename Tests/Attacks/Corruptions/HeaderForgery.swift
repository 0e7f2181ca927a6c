import CambiumBytes
import CambiumTesting

/// Changes a header and recomputes its checksum, like an attacker with knowledge of the format. The offsets are those of FORMAT.md.
enum HeaderForgery {
    /// Changes one to three bytes of the header. Leaves the bytes unchanged if the file has no header with a checksum.
    static func apply(to bytes: inout [UInt8], of file: String, _ random: inout SplitMix64) {
        let name = file.split(separator: "/").last.map(String.init) ?? ""
        switch name {
        case _ where name.hasSuffix(".log") || name.hasSuffix(".ops"): forge(&bytes, 8..<92, covers: 0..<92, checksumAt: 92, &random)
        case "HEAD":
            let byteCount = bytes.count > 128 ? 128 : 64
            for start in stride(from: 0, to: bytes.count - byteCount + 1, by: byteCount) {
                let place = start + byteCount - 4
                forge(&bytes, start + 8..<place, covers: start..<place, checksumAt: place, &random)
            }
        case "ARCHIVE": forge(&bytes, 8..<bytes.count - 4, covers: 0..<bytes.count - 4, checksumAt: bytes.count - 4, &random)
        // The rest of a checkpoint record (schema, requests, labels) stays unchanged: a reader trusts it if the checksum fits.
        case _ where name.hasSuffix(".root"):
            forge(&bytes, 8..<88, covers: 0..<bytes.count - 4, checksumAt: bytes.count - 4, &random)
        case "store.json": forgeSettings(&bytes, &random)
        default: break
        }
    }

    private static func forge(
        _ bytes: inout [UInt8], _ changed: Range<Int>, covers covered: Range<Int>, checksumAt place: Int, _ random: inout SplitMix64
    ) {
        guard covered.count > 8, place + 4 <= bytes.count, changed.upperBound <= bytes.count else { return }
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            bytes[Int.random(in: changed, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
        }
        let checksum = CRC32C.checksum(Array(bytes[covered]))
        for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * index)) }
    }

    /// Replaces one of the digits before the checksum with another digit.
    private static func forgeSettings(_ bytes: inout [UInt8], _ random: inout SplitMix64) {
        guard let end = bytes.firstRange(of: Array(",\"check\"".utf8))?.lowerBound else { return }
        let digits = bytes[..<end].indices.filter { (48...57).contains(bytes[$0]) }
        guard let place = random.pick(digits) else { return }
        bytes[place] = bytes[place] == 57 ? 49 : bytes[place] + 1
        let digitsOfChecksum = String(CRC32C.checksum(Array(bytes[..<end])), radix: 16)
        let padded = String(repeating: "0", count: 8 - digitsOfChecksum.count) + digitsOfChecksum
        bytes = Array(bytes[..<end]) + Array(",\"check\":\"\(padded)\"}\n".utf8)
    }
}

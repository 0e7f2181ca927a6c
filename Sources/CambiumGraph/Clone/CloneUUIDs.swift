import CambiumBytes
import CambiumModel

/// The new UUIDs of one attribute of a clone. FORMAT.md 4 says how they are made.
///
/// Up to 16 copies get UUIDs that lie side by side in an index, whatever its key is: so a small clone touches few buckets.
struct CloneUUIDs {
    private let low: UInt64
    private let high: UInt64
    private let start: UInt64
    private let distance: UInt64
    private let firstSerial: UInt64
    private let algorithm: CloneOp.Algorithm

    /// - Parameters:
    ///   - count: the copies in the attribute's hierarchy.
    ///   - objectCount: the objects that were in it before.
    init(
        _ seed: CloneSeed, _ algorithm: CloneOp.Algorithm, _ attribute: Attribute, firstSerial: UInt64, _ count: Int,
        among objectCount: Int
    ) {
        let words = (
            seed.low.littleEndian, seed.high.littleEndian,
            (UInt32(attribute.root.rawValue) | UInt32(attribute.number.rawValue) << 16).littleEndian
        )
        // SAFETY: the three words have no gaps between them, and 20 bytes.
        let hash = withUnsafeBytes(of: words) { XXH3.hash128(UnsafeRawBufferPointer(rebasing: $0[0..<20]), seed: 0) }
        low = hash.low
        high = hash.high
        start = Mixing.mixed(hash.low ^ hash.high)
        distance = UInt64.max / UInt64(max(1, count, objectCount))
        self.firstSerial = firstSerial
        self.algorithm = algorithm
    }

    /// The UUID of the copy of a serial.
    @inline(__always) subscript(_ serial: UInt64) -> SIMD2<UInt64> {
        algorithm == .groups ? grouped(serial) : ascending(serial &- firstSerial)
    }

    /// Algorithm 2: copies whose serials agree but for the lowest four bits have UUIDs that agree but for theirs.
    @inline(__always) private func grouped(_ serial: UInt64) -> SIMD2<UInt64> {
        let stride = (serial &>> 4 &+ 1) &* Mixing.step
        let first = Mixing.mixed(high &+ stride) & ~(Self.versionMask | KeyHash.neighborMask) | 4 &<< 52 | serial & KeyHash.neighborMask
        let rest = Mixing.mixed(low &+ stride) & ~Self.variantMask | 0x80
        return SIMD2(first.littleEndian, rest.littleEndian)
    }

    /// Algorithm 1: the hashes of the first version, which had no key, ascend.
    @inline(never) private func ascending(_ place: UInt64) -> SIMD2<UInt64> {
        let stride = (place &+ 1) &* Mixing.step
        let chance = Mixing.mixed(high &+ stride)
        let hash = start &+ place &* distance &+ chance.multipliedFullWidth(by: distance).high
        // What the version needs is put where the hash takes it as it is.
        let rest = Mixing.mixed(low &+ stride) & ~(Self.versionMask | Self.variantMask) | 0x80
        let first = Mixing.unmixed(hash) ^ rest &* Mixing.step
        let version = (first ^ 4 << 52) & Self.versionMask
        return SIMD2((first ^ version).littleEndian, (rest | version).littleEndian)
    }

    private static let versionMask: UInt64 = 0xF << 52
    private static let variantMask: UInt64 = 0xC0
}

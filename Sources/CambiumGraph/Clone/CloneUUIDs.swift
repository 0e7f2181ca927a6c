import CambiumBytes
import CambiumModel

/// The new UUIDs of one attribute of a clone. FORMAT.md 4 says how they are made.
///
/// They are chosen by their hashes, which lie side by side in the order of the copies, as densely as those of the objects that were
/// there: so an index takes them bucket by bucket, in few buckets where the copies are few.
struct CloneUUIDs {
    private let low: UInt64
    private let high: UInt64
    private let start: UInt64
    private let distance: UInt64
    private let firstSerial: UInt64

    /// - Parameters:
    ///   - count: the copies in the attribute's hierarchy.
    ///   - objectCount: the objects that were in it before.
    init(_ seed: CloneSeed, _ attribute: Attribute, firstSerial: UInt64, _ count: Int, among objectCount: Int) {
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
    }

    /// The UUID of the copy of a serial.
    @inline(__always) subscript(_ serial: UInt64) -> SIMD2<UInt64> {
        let place = serial &- firstSerial
        let stride = (place &+ 1) &* Mixing.step
        let chance = Mixing.mixed(high &+ stride)
        let hash = start &+ place &* distance &+ chance.multipliedFullWidth(by: distance).high
        // The variant; what the version needs is put where the hash takes it as it is.
        let rest = Mixing.mixed(low &+ stride) & ~(KeyHash.plainBits | 0xC0) | 0x80
        let first = Mixing.unmixed(hash) ^ KeyHash.folded(rest)
        let version = (first ^ 4 << 52) & KeyHash.plainBits
        return SIMD2((first ^ version).littleEndian, (rest | version).littleEndian)
    }
}

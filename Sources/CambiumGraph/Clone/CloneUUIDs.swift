import CambiumBytes
import CambiumModel

/// The new UUIDs of one attribute of a clone. FORMAT.md 4 states how the UUIDs are made.
///
/// An index sorts keys by hash. The hashes of the new UUIDs are nearly in the order of the copies, and are spaced like the hashes of the
/// existing keys. So the index receives the UUIDs bucket by bucket, and a small clone changes few buckets.
struct CloneUUIDs {
    private let low: UInt64
    private let high: UInt64
    private let start: UInt64
    private let distance: UInt64
    private let firstSerial: UInt64
    private let algorithm: CloneOp.Algorithm
    private let bitCount: UInt64
    private var firstSeries = SIMD2<UInt64>()

    /// - Parameters:
    ///   - count: The number of copies in the hierarchy of the attribute.
    ///   - objectCount: The number of objects in the hierarchy before the clone.
    init(
        _ seed: CloneSeed, _ algorithm: CloneOp.Algorithm, _ attribute: Attribute, firstSerial: UInt64, _ count: Int,
        among objectCount: Int
    ) {
        let words = (
            seed.low.littleEndian, seed.high.littleEndian,
            (UInt32(attribute.root.rawValue) | UInt32(attribute.number.rawValue) << 16).littleEndian
        )
        // SAFETY: the three words are 20 bytes without gaps between them, and only these bytes are read.
        let hash = withUnsafeBytes(of: words) { XXH3.hash128(UnsafeRawBufferPointer(rebasing: $0[0..<20]), seed: 0) }
        low = hash.low
        high = hash.high
        start = Mixing.mixed(hash.low ^ hash.high)
        distance = UInt64.max / UInt64(max(1, count, objectCount))
        self.firstSerial = firstSerial
        self.algorithm = algorithm
        let space = UInt64(max(1, count, objectCount))
        bitCount = min(UUIDSeries.bitCountMax, UInt64(64 - space.leadingZeroBitCount))
        firstSeries = start(ofSeries: 0)
    }

    /// The UUID of the copy with the serial `serial`.
    @inline(__always) subscript(_ serial: UInt64) -> SIMD2<UInt64> {
        let place = serial &- firstSerial
        return algorithm == .ascendingHashes ? ascending(place) : numbered(place)
    }

    /// Returns the UUID of the copy at a position, by algorithms 2 and 3, which number the UUIDs of a series. If there are more copies
    /// than numbers in one series, further series follow.
    @inline(__always) private func numbered(_ place: UInt64) -> SIMD2<UInt64> {
        let series = place &>> bitCount
        let first = series == 0 ? firstSeries : start(ofSeries: series)
        return SIMD2(first.x | (place & ((1 &<< bitCount) &- 1)).littleEndian, first.y)
    }

    /// Returns the UUID with the number 0 of a series, a set of UUIDs that differ only in a number.
    private func start(ofSeries series: UInt64) -> SIMD2<UInt64> {
        let stride = (firstSerial &+ series) &* Mixing.step
        let first = UUIDSeries.tagged(Mixing.mixed(high &+ stride) & ~Self.versionMask | 4 &<< 52, bitCount: bitCount)
        let rest = Mixing.mixed(low &+ stride) & ~Self.variantMask | 0x80
        return SIMD2(first.littleEndian, rest.littleEndian)
    }

    /// Returns the UUID of the copy at a position, by algorithm 1. Only clones in older logs use this algorithm. The algorithm was made for
    /// indexes whose hash had no secret key: the hashes of the UUIDs ascended in the order of the copies.
    @inline(never) private func ascending(_ place: UInt64) -> SIMD2<UInt64> {
        let stride = (place &+ 1) &* Mixing.step
        let chance = Mixing.mixed(high &+ stride)
        let hash = start &+ place &* distance &+ chance.multipliedFullWidth(by: distance).high
        // The version of the UUID overwrites bits of `first`. The changed bits are recorded in bits of `rest` that were zero, so the hash
        // can still be computed from the UUID.
        let rest = Mixing.mixed(low &+ stride) & ~(Self.versionMask | Self.variantMask) | 0x80
        let first = Mixing.unmixed(hash) ^ rest &* Mixing.step
        let version = (first ^ 4 << 52) & Self.versionMask
        return SIMD2((first ^ version).littleEndian, (rest | version).littleEndian)
    }

    private static let versionMask: UInt64 = 0xF << 52
    private static let variantMask: UInt64 = 0xC0
}

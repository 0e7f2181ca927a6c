internal import CMachine
import CambiumModel
import Glibc

/// A test of the bytes of a value.
enum TextTest {
    case equal([UInt8])
    /// The bytes lie between two limits in byte order. A limit that is `nil` does not restrict them.
    case between(Limit?, Limit?)
    case contains([UInt8])
    case begins([UInt8])
    case ends([UInt8])
    case isIn(Set<[UInt8]>)
    case matches(LinearRegex)
    /// The bytes are a decimal number between two limits.
    case decimal(DecimalLimits)
    /// The folded text passes another test.
    indirect case folded(Folding, TextTest)
    /// The folded and composed text passes the test of a pattern.
    indirect case composed(Folding, TextTest)

    struct Limit {
        let bytes: [UInt8]
        let isIncluded: Bool
    }

    struct DecimalLimits {
        let lower: DecimalNumber?
        let isLowerIncluded: Bool
        let upper: DecimalNumber?
        let isUpperIncluded: Bool

        func contains(_ number: DecimalNumber) -> Bool {
            if let lower, isLowerIncluded ? number < lower : number <= lower { return false }
            if let upper, isUpperIncluded ? upper < number : upper <= number { return false }
            return true
        }
    }

    func holds(_ bytes: UnsafeRawBufferPointer) -> Bool {
        switch self {
        case .equal(let wanted): bytes.count == wanted.count && Self.order(bytes, wanted) == 0
        case .between(let lower, let upper): Self.isBetween(bytes, lower, upper)
        case .contains(let wanted): Self.contains(bytes, wanted)
        case .begins(let wanted): bytes.count >= wanted.count && Self.order(.init(rebasing: bytes[..<wanted.count]), wanted) == 0
        case .ends(let wanted):
            bytes.count >= wanted.count && Self.order(.init(rebasing: bytes[(bytes.count - wanted.count)...]), wanted) == 0
        case .isIn(let wanted): wanted.contains([UInt8](bytes))
        case .matches(let regex): regex.matchesWhole(bytes)
        case .decimal(let limits): DecimalNumber(storedBytes: bytes).map(limits.contains) ?? false
        case .folded(let folding, let test): folding.withFolded(bytes) { test.holds($0) }
        case .composed(let folding, let test): folding.withComposed(bytes) { test.holds($0) }
        }
    }

    /// Returns a negative number, 0 or a positive number if the first bytes precede, equal or follow the second bytes.
    private static func order(_ left: UnsafeRawBufferPointer, _ right: [UInt8]) -> Int {
        right.withUnsafeBytes { order(left, $0) }
    }

    static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        let count = min(left.count, right.count)
        if count > 0, let first = left.baseAddress, let second = right.baseAddress {
            // SAFETY: both buffers have at least `count` bytes.
            let order = memcmp(first, second, count)
            if order != 0 { return Int(order) }
        }
        return left.count - right.count
    }

    private static func isBetween(_ bytes: UnsafeRawBufferPointer, _ lower: Limit?, _ upper: Limit?) -> Bool {
        if let lower {
            let order = order(bytes, lower.bytes)
            if lower.isIncluded ? order < 0 : order <= 0 { return false }
        }
        if let upper {
            let order = order(bytes, upper.bytes)
            if upper.isIncluded ? order > 0 : order >= 0 { return false }
        }
        return true
    }

    /// Returns whether a text contains the wanted bytes. Every text contains the empty text.
    private static func contains(_ bytes: UnsafeRawBufferPointer, _ wanted: [UInt8]) -> Bool {
        if wanted.isEmpty { return true }
        guard bytes.count >= wanted.count else { return false }
        // SAFETY: both buffers are passed with their own lengths.
        return wanted.withUnsafeBytes { cmachine_contains(bytes.baseAddress, bytes.count, $0.baseAddress, $0.count) != 0 }
    }
}

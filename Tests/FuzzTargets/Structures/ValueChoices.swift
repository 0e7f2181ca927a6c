import CambiumModel
import FoundationEssentials

extension Choices {
    /// Returns a value of any kind. Some values are impossible for every attribute.
    mutating func value() -> Value {
        switch index(below: 12) {
        case 0: .string(text())
        case 1: .int(Int64(bitPattern: number()))
        case 2: .bool(isTrue())
        case 3: .float(Float(bitPattern: UInt32(truncatingIfNeeded: double().bitPattern >> 32)))
        case 4: .double(double())
        case 5:
            .decimal(DecimalNumber(pick(["0", "-1.25e-3", "99999999999999999999999999999999999999", "1e127", "1e-120"]) ?? "0") ?? .zero)
        case 6: .data(bytes(countMax: 60))
        case 7: .date(Date(timeIntervalSinceReferenceDate: double()))
        case 8: .uuid(uuid())
        case 9: .uri(text())
        case 10: .json(text())
        default: .null
        }
    }

    private mutating func double() -> Double {
        let limits: [Double] = [
            0, -0.0, 1.5, 1e300, -1e300, .nan, .signalingNaN, .infinity, -.infinity, 9.3e18, 252_423_993_600, -63_113_904_001, 0.1,
            .leastNonzeroMagnitude, .greatestFiniteMagnitude, 725_760_000.125,
        ]
        return isTrue() ? Double(bitPattern: raw(byteCount: 8)) : pick(limits) ?? 0
    }

    private mutating func uuid() -> UUID {
        let (low, high) = (raw(byteCount: 8), raw(byteCount: 8))
        func byte(_ word: UInt64, _ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: word >> UInt64(8 * index)) }
        return UUID(
            uuid: (
                byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3), byte(low, 4), byte(low, 5), byte(low, 6), byte(low, 7),
                byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5), byte(high, 6), byte(high, 7)
            ))
    }
}

internal import CMachine
import CambiumModel

/// A range of values of a column of fixed width, including both limits. The limits have the type of the stored numbers, so that 64 rows can
/// be compared at once.
enum ColumnRange {
    case uint8(UInt8, UInt8)
    case uint16(UInt16, UInt16)
    case int16(Int16, Int16)
    case int32(Int32, Int32)
    case int64(Int64, Int64)
    case float(Float, Float)
    case double(Double, Double)

    /// Returns the rows of a group in which the column has a value in the range. The stored bytes of a null may lie in the range, so the
    /// caller must exclude null.
    @inline(__always) func bits(_ leaf: UnsafeMutableRawPointer) -> GroupBits {
        let values = FixedLeaf(leaf).values
        return switch self {
        case .uint8(let low, let high): GroupView.halves { cmachine_within_u8(values + $0, low, high) }
        case .uint16(let low, let high): GroupView.halves { cmachine_within_u16(values + 2 &* $0, low, high) }
        case .int16(let low, let high): GroupView.halves { cmachine_within_i16(values + 2 &* $0, low, high) }
        case .int32(let low, let high): GroupView.halves { cmachine_within_i32(values + 4 &* $0, low, high) }
        case .int64(let low, let high): GroupView.halves { cmachine_within_i64(values + 8 &* $0, low, high) }
        case .float(let low, let high): GroupView.halves { cmachine_within_float(values + 4 &* $0, low, high) }
        case .double(let low, let high): GroupView.halves { cmachine_within_double(values + 8 &* $0, low, high) }
        }
    }

    /// Returns whether the value at an index lies in the range. The stored bytes of a null may lie in the range, so the caller must exclude
    /// null.
    @inline(__always) func contains(_ leaf: UnsafeMutableRawPointer, _ index: Int) -> Bool {
        let values = FixedLeaf(leaf).values
        func value<Number>(_ type: Number.Type) -> Number { values.load(fromByteOffset: MemoryLayout<Number>.size &* index, as: type) }
        return switch self {
        case .uint8(let low, let high): value(UInt8.self) >= low && value(UInt8.self) <= high
        case .uint16(let low, let high): value(UInt16.self) >= low && value(UInt16.self) <= high
        case .int16(let low, let high): value(Int16.self) >= low && value(Int16.self) <= high
        case .int32(let low, let high): value(Int32.self) >= low && value(Int32.self) <= high
        case .int64(let low, let high): value(Int64.self) >= low && value(Int64.self) <= high
        case .float(let low, let high): value(Float.self) >= low && value(Float.self) <= high
        case .double(let low, let high): value(Double.self) >= low && value(Double.self) <= high
        }
    }

    /// Returns the rows of a group in which the link column contains a row from `low` to `high`.
    @inline(__always)
    static func links(_ leaf: UnsafeMutableRawPointer, _ low: UInt32, _ high: UInt32) -> GroupBits {
        GroupView.halves { cmachine_within_u32(LinkLeaf(leaf).values + $0, low, high) }
    }
}

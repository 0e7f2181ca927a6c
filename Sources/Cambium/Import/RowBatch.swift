import CambiumGraph
import CambiumJSON
import CambiumModel

/// Rows that were read: parsed, and their values converted and checked, as far as that goes without the graph.
///
/// Numbers and bytes in a few arrays, so that a batch is handed from thread to thread as it is and used again. What cannot be
/// imported is noted where it was met: who plans may never come there.
struct RowBatch: Sendable {
    /// Places that follow each other. A batch has fewer of anything than 32 bits count: a document has at most 64 MiB.
    struct Span {
        private let first: UInt32
        private let end: UInt32

        init(_ range: Range<Int>) {
            first = UInt32(range.lowerBound)
            end = UInt32(range.upperBound)
        }

        static var none: Span { Span(0..<0) }

        @inline(__always) var range: Range<Int> { Int(first)..<Int(end) }
        var isEmpty: Bool { first == end }
    }

    struct Row {
        /// Counted from 1 in its source.
        var number = 0
        var line = 0
        /// A place in the sources of the import.
        var source: Int32 = 0
        /// The place of the row's own object; those that it describes follow.
        var object: Int32 = 0
        /// Why nothing of it was read: a place in `failures`; negative where it was.
        var failure: Int32 = -1
        /// The identities that it names.
        var keys = Span.none
        /// Its document in `bytes`, where it may have to be read again.
        var document = Span.none
    }

    /// An object that a row describes.
    struct Object {
        /// In the row's document.
        let token: Int32
        /// Why it cannot be imported: a place in `failures`; negative where nothing is against it. Where something is, it has no links.
        var failure: Int32 = -1
        var values = Span.none
        /// Those that it gives, in the order of the row.
        var links = Span.none
        var unknownKeys = Span.none
        /// What it was read as.
        var entity: EntityNumber
    }

    struct Value {
        enum Kind: UInt8 {
            case null, fixed, bytes
            /// The attribute was given, and stays as it is.
            case kept
        }

        let attribute: UInt16
        let kind: Kind
        /// A place in `keys`, where it is the one value of an identity; else negative.
        var key: Int32 = -1
        /// The stored bits, or where the bytes begin.
        let low: UInt64
        /// The stored bits, or how many bytes there are.
        let high: UInt64

        var isGiven: Bool { kind == .fixed || kind == .bytes }
    }

    /// What a row gives to a relationship.
    struct Link {
        enum Kind: UInt8 {
            /// It stays as it is.
            case kept
            /// It has no members.
            case cleared
            case members
            case failed
        }

        /// A place in the relationships of the entity.
        let index: UInt16
        var kind = Kind.kept
        /// Whether a member was of the wrong type, and passed over.
        var isMismatched = false
        var failure: Int32 = -1
        var members = Span.none
        /// Where its value is in the object: a place in `pointers`; negative where that is the key of its name.
        var pointer: Int32 = -1
    }

    struct Member {
        enum Kind: UInt8 { case described, named, failed }

        let kind: Kind
        /// A place in `objects`, `values` or `failures`.
        let place: Int32
        /// Which element of an array it is; negative where there is none.
        let element: Int32
    }

    /// An identity that is going to be looked for.
    struct Key {
        let entity: EntityNumber
        let hash: UInt64
    }

    /// What comes behind the rows.
    enum End {
        case more
        case nothing
        /// The input cannot be read any further.
        case failed(any Error)

        var isMore: Bool { if case .more = self { true } else { false } }
    }

    var rows: [Row] = []
    var objects: [Object] = []
    var values: [Value] = []
    var links: [Link] = []
    var members: [Member] = []
    var keys: [Key] = []
    var bytes: [UInt8] = []
    var failures: [RowFailure] = []
    var unknownKeys: [String] = []
    var pointers: [String] = []
    /// The one row, for a hook.
    var value: JSONValue?
    var end = End.more

    mutating func removeAll() {
        rows.removeAll(keepingCapacity: true)
        objects.removeAll(keepingCapacity: true)
        values.removeAll(keepingCapacity: true)
        links.removeAll(keepingCapacity: true)
        members.removeAll(keepingCapacity: true)
        keys.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
        failures.removeAll(keepingCapacity: true)
        unknownKeys.removeAll(keepingCapacity: true)
        pointers.removeAll(keepingCapacity: true)
        value = nil
        end = .more
    }

    /// Memory that the rows take, but for texts that are hardly ever there.
    var byteCount: Int {
        bytes.count + values.count * MemoryLayout<Value>.stride + objects.count * MemoryLayout<Object>.stride
            + links.count * MemoryLayout<Link>.stride + members.count * MemoryLayout<Member>.stride
            + rows.count * MemoryLayout<Row>.stride + keys.count * MemoryLayout<Key>.stride
    }

    // MARK: Values

    /// Calls `body` with the stored form of a value.
    @inline(__always)
    func withCell<R>(_ value: Value, _ body: (Cell) -> R) -> R {
        switch value.kind {
        case .null, .kept: return body(.null)
        case .fixed: return body(.fixed(value.low, value.high))
        case .bytes:
            let range = Int(value.low)..<Int(value.low + value.high)
            return bytes.withUnsafeBytes { body(.bytes(UnsafeRawBufferPointer(rebasing: $0[range]))) }
        }
    }

    mutating func append(_ attribute: Int, _ kind: Value.Kind, _ low: UInt64 = 0, _ high: UInt64 = 0) {
        values.append(Value(attribute: UInt16(attribute), kind: kind, low: low, high: high))
    }

    mutating func append(_ attribute: Int, _ stored: UnsafeRawBufferPointer) {
        append(attribute, .bytes, UInt64(bytes.count), UInt64(stored.count))
        bytes.append(contentsOf: stored)
    }

    /// Notes why something cannot be imported, and returns its place.
    mutating func note(_ failure: RowFailure) -> Int32 {
        failures.append(failure)
        return Int32(failures.count - 1)
    }

    /// The hash of the key that a value is; 0 where that is not known.
    @inline(__always) func hash(of value: Value) -> UInt64 { value.key < 0 ? 0 : keys[Int(value.key)].hash }
}

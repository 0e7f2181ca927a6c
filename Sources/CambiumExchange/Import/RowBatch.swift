import CambiumGraph
package import CambiumJSON
import CambiumModel

/// Rows that the reader has parsed. The reader has also converted their values, and has made all checks that need no graph.
///
/// The rows are numbers and bytes in a few arrays, so that a batch can be passed between threads as a whole and reused. A failure is stored
/// with the faulty part of the row. The planner throws the failure only if it uses the faulty part.
package struct RowBatch: Sendable {
    /// A range of indexes. A document is at most 64 MiB, so 32 bits are enough for every count in a batch.
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
        /// The number of the row, counted from 1 in its source.
        var number = 0
        var line = 0
        /// An index into the sources of the import.
        var source: Int32 = 0
        /// The index of the row's own object in `objects`. The objects that are nested in the row follow it.
        var object: Int32 = 0
        /// An index into `failures` if the whole row could not be read; otherwise negative.
        var failure: Int32 = -1
        /// The identities of the objects that the row describes or refers to, as a range of `keys`.
        var keys = Span.none
        /// The JSON text of the row in `bytes`; empty if the row is never read again.
        var document = Span.none
    }

    /// An object that a row describes.
    struct Object {
        /// The index of the JSON token at which the object begins in the document of the row.
        let token: Int32
        /// An index into `failures` if the object cannot be imported; otherwise negative. An object with a failure has no links, unless
        /// its entity has an unknown key and its identity contains a relationship.
        var failure: Int32 = -1
        /// Whether the failure is an unknown key. If the object belongs to a sub-entity of `entity`, that sub-entity may have the key.
        var hasUnknownKey = false
        var values = Span.none
        /// The relationships that the row contains for the object, as a range of the batch's `links`.
        var links = Span.none
        var unknownKeys = Span.none
        /// The entity that the reader assumed for the object.
        var entity: EntityNumber
    }

    struct Value {
        enum Kind: UInt8 {
            case null, fixed, bytes
            /// The row contains the attribute, but the object keeps its present value.
            case kept
        }

        let attribute: UInt16
        let kind: Kind
        /// An index into `keys` if the value is the whole identity of an object; otherwise negative.
        var key: Int32 = -1
        /// The low half of the stored bits if `kind` is `fixed`; an offset in the batch's `bytes` if `kind` is `bytes`.
        let low: UInt64
        /// The high half of the stored bits if `kind` is `fixed`; the number of bytes if `kind` is `bytes`.
        let high: UInt64

        var isGiven: Bool { kind == .fixed || kind == .bytes }
    }

    /// The content of a relationship in a row.
    struct Link {
        enum Kind: UInt8 {
            /// The relationship keeps its members.
            case kept
            /// The relationship has no members.
            case cleared
            case members
            case failed
        }

        /// An index into the relationships of the entity.
        let index: UInt16
        var kind = Kind.kept
        /// Whether a member of the wrong type was skipped.
        var isMismatched = false
        var failure: Int32 = -1
        var members = Span.none
        /// An index into the batch's `pointers`. The JSON pointer at this index leads from the owner to the content of the relationship.
        /// Negative if the key is the name of the relationship.
        var pointer: Int32 = -1
    }

    struct Member {
        enum Kind: UInt8 { case described, named, failed }

        let kind: Kind
        /// An index into `objects` if `kind` is `described`, into `values` if `kind` is `named`, otherwise into `failures`.
        let place: Int32
        /// The index of the member in the JSON array of the relationship; negative if the member is not in such an array.
        let element: Int32
    }

    /// An identity that the import will look up.
    struct Key {
        let entity: EntityNumber
        let hash: UInt64
    }

    /// The state of the input after the rows of a batch.
    package enum End {
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
    /// The only row of the batch as JSON, if the program's hook examines each row. `nil` if there is no hook, or if the row cannot be read.
    package var value: JSONValue?
    package var end = End.more

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

    /// The number of bytes that the rows take, without infrequent texts such as failures.
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

    /// The maximum number of failures that are kept. One general failure represents all further failures, so that the memory does not grow
    /// with the faults of a row.
    static let failureCountMax = 4096

    /// Stores the reason why a part of the row cannot be imported, and returns its index in `failures`.
    mutating func track(_ failure: RowFailure) -> Int32 {
        if failures.count < Self.failureCountMax {
            failures.append(failure)
        } else if failures.count == Self.failureCountMax {
            failures.append(RowFailure(code: .tooLarge, pointer: "", message: "the row has too many faults to report each of them"))
        }
        return Int32(failures.count - 1)
    }

    /// Returns the hash of a value that is the whole identity of an object; 0 if the hash is not known.
    @inline(__always) func hash(of value: Value) -> UInt64 { value.key < 0 ? 0 : keys[Int(value.key)].hash }
}

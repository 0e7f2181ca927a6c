import Cambium
import CambiumGraph
import CambiumLog
import CambiumModel
import FoundationEssentials

/// Ops for the graph of `ForgedSample` that no store writes. Each field of each kind of op appears at its limits. Each place for a value in
/// an op appears with each kind of value that no attribute can have.
///
///     for forgery in try ForgedOps.all() { let files = try ForgedLog.append([forgery.payload], to: sample.files) }
package struct ForgedOps: Sendable, CustomStringConvertible {
    /// The bytes of the ops.
    package let payload: [UInt8]
    package let description: String

    init(_ description: String, _ ops: [Op]) {
        self.description = description
        payload = OpCodec.encode(ops)
    }

    init(_ description: String, payload: [UInt8]) {
        self.description = description
        self.payload = payload
    }

    /// Returns ops with a value that no attribute can have.
    package static func values() throws -> [ForgedOps] { try Array(Forgery().values().dropFirst()) }

    /// Returns a clone like the ones in `values()`, but with sound values.
    package static func soundClone() throws -> ForgedOps? { try Forgery().values().first }

    /// Returns ops that set a label that no caller may set.
    package static func labels() -> [ForgedOps] {
        ["", "a\nb", "\u{1B}[2J", "\u{7F}", "tab\t", "\0"].map { name in
            ForgedOps("label of the bytes \(Array(name.utf8))", [.label(name, TransactionNumber(rawValue: 1))])
        }
    }

    /// Returns ops that refer to something that does not exist, or that contain an impossible number.
    package static func limits() throws -> [ForgedOps] { try Forgery().limits() }

    package static func all() throws -> [ForgedOps] { try values() + limits() + bytes() + labels() }

    /// Returns copies of the payloads (the encoded ops) of the sample's transactions. In each copy, a byte or a varint at a limit replaces
    /// one of the first 400 bytes.
    package static func bytes() throws -> [ForgedOps] {
        try SampleStore.seedPayloads().enumerated().flatMap { number, payload in
            (0..<min(payload.count, 400)).flatMap { place in
                replacements.map { bytes in
                    let forged = Array(payload[..<place]) + bytes + payload[(place + 1)...]
                    return ForgedOps("payload \(number), byte \(place) becomes \(bytes)", payload: forged)
                }
            }
        }
    }

    /// Single bytes, and varints of 32, 38, 63 and 64 bits.
    private static let replacements: [[UInt8]] = [
        [0], [0x7F], [0xFF, 0xFF, 0xFF, 0xFF, 0x0F], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x07],
        [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
    ]
}

extension SampleStore {
    /// Returns the payloads (the encoded ops) of the sample's transactions except its schema, and the payloads of clones of its objects.
    static func seedPayloads() throws -> [[UInt8]] { try SampleStore().payloads.dropFirst() + SampleClones.payloads() }
}

/// Builds the ops of `ForgedOps`.
private struct Forgery {
    let thing: Entity
    /// A valid clone of the first object.
    let sampleClone: CloneOp

    init() throws {
        let (store, _) = try ForgedSample.open(ForgedSample().files)
        guard let thing = store.schema.entity("Thing") else { throw Finding("the sample lacks its entities") }
        self.thing = thing
        let request = CloneRequest(excluding: ["partner", "friends"], rootValues: ["id": .int(6000)])
        sampleClone = try store.graph.planClone([ObjectID(root: thing.root, serial: 1)], request).op(
            time: Timestamp(microsecondsSince1970: 1)
        ) {
            CloneSeed(low: 1, high: 2)
        }
        try store.close()
    }

    var first: ObjectID { ObjectID(root: thing.root, serial: 1) }

    // MARK: Values

    /// The names of attributes, each with a value that the attribute cannot have. `badBytes` has the invalid values that a `Value` cannot
    /// represent.
    private var badValues: [(String, Value)] {
        var values: [(String, Value)] = [
            ("flag", .int(1)), ("small", .int(40_000)), ("middle", .int(1 << 40)), ("single", .float(.nan)), ("single", .float(.infinity)),
            ("wide", .double(.nan)), ("wide", .double(-.infinity)), ("wide", .double(.signalingNaN)),
        ]
        for seconds in [Double.nan, .infinity, -.infinity, 1e300, -1e300, 9.3e18, 252_423_993_600, -63_113_904_001] {
            values.append(("when", .date(Date(timeIntervalSinceReferenceDate: seconds))))
        }
        for text in ["", "nonsense", "1,\"flag\":true", "{\"a\":1", "{\"a\":1,\"a\":2}", "[1] [2]", "{\"a\": 1}", "\u{FEFF}1", "\"\n\""] {
            values.append(("tree", .json(text)))
        }
        return values
    }

    /// The names of attributes, each with stored bytes that do not encode any value of the attribute.
    private var badBytes: [(String, [UInt8])] {
        let dates = [UInt64.max, 0x7FF0 << 48, 0xFFF0 << 48, 0x7FF8 << 48, (1e300).bitPattern, (9.3e18).bitPattern]
        var bytes: [(String, [UInt8])] = dates.map { ("when", Self.bytes($0)) }
        bytes += [0x7FF0 << 48, 0x7FF8 << 48, UInt64.max].map { ("wide", Self.bytes($0)) }
        bytes += [("single", [0, 0, 0xC0, 0x7F]), ("single", [0, 0, 0x80, 0xFF]), ("flag", [2]), ("flag", [255])]
        for text: [UInt8] in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0x61, 0xE2, 0x82], [0x80]] {
            bytes += ["title", "link", "tree"].map { ($0, text) }
        }
        let decimals: [[UInt8]] = [[], [0, 0], [3, 0, 1], [1, 0], [1, 0, 0, 1], [1, 0, 10], [1], [0x31]]
        bytes += decimals.map { ("price", $0) }
        bytes += ["", "nope", "1,\"flag\":true", "[1", "\"\u{1}\""].map { ("tree", Array($0.utf8)) }
        return bytes
    }

    private static func bytes(_ word: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) } }

    func values() throws -> [ForgedOps] {
        var forgeries = [ForgedOps("clone of valid values", [.clone(sampleClone)])]
        for (number, (name, value)) in badValues.enumerated() {
            guard let attribute = thing.attribute(name) else { throw Finding("the sample lacks '\(name)'") }
            let assignment = Assignment(attribute.number, value)
            forgeries.append(ForgedOps("set \(name), value \(number)", [.set(first, [assignment])]))
            let id = ObjectID(root: thing.root, serial: 5000)
            let identity = try identity(5000)
            forgeries.append(
                ForgedOps("insert with \(name), value \(number)", [.insert(id, entity: thing.number, [identity, assignment])]))
            forgeries.append(clone(attribute, value, number))
        }
        for (name, bytes) in badBytes {
            guard let attribute = thing.attribute(name) else { throw Finding("the sample lacks '\(name)'") }
            for kind in [UpsertBlock.Kind.insert, .update] {
                forgeries.append(ForgedOps("\(kind) column \(name) of \(bytes)", [try block(kind, column(attribute, bytes))]))
            }
            forgeries.append(
                ForgedOps("identity column \(name) of \(bytes)", [try block(.update, nil, identity: column(attribute, bytes))]))
        }
        return forgeries
    }

    private func identity(_ number: Int64) throws -> Assignment {
        guard let id = thing.attribute("id") else { throw Finding("the sample lacks 'id'") }
        return Assignment(id.number, .int(number))
    }

    private func clone(_ attribute: Attribute, _ value: Value, _ number: Int) -> ForgedOps {
        var op = sampleClone
        op.options.rootValues.append(.init(root: thing.root, attribute: attribute.number, value: value))
        return ForgedOps("clone with \(attribute.name), value \(number)", [.clone(op)])
    }

    private func column(_ attribute: Attribute, _ bytes: [UInt8]) -> AttributeColumn {
        let content: AttributeColumn.Content =
            attribute.type.byteCount.map { .fixed(width: $0, bytes: bytes) } ?? .variable(byteCounts: [UInt32(bytes.count)], bytes: bytes)
        return AttributeColumn(property: attribute.number, presence: [1], content: content)
    }

    private func block(_ kind: UpsertBlock.Kind, _ column: AttributeColumn?, identity: AttributeColumn? = nil) throws -> Op {
        var serials = SerialRuns()
        serials.append(kind == .insert ? 5000 : 1)
        var columns = column.map { [$0] } ?? []
        if kind == .insert, let id = thing.attribute("id") { columns.append(self.column(id, Self.bytes(5000))) }
        return .upsert(
            UpsertBlock(entity: thing.number, kind: kind, serials: serials, identity: identity.map { [$0] } ?? [], columns: columns))
    }

    // MARK: Limits

    func limits() throws -> [ForgedOps] {
        guard let steps = thing.relationship("steps"), let title = thing.attribute("title"), let id = thing.attribute("id") else {
            throw Finding("the sample lacks properties to link")
        }
        let last = ObjectID(root: thing.root, serial: ObjectID.serialMax)
        let nowhere = ObjectID(root: EntityNumber(rawValue: .max), serial: 1)
        let step = ObjectID(root: steps.destinationRoot, serial: 1)
        var forgeries: [ForgedOps] = []
        for number in [0, 1, UInt64.max - 1, UInt64.max, 1 << 63, 1 << 32] {
            let transaction = TransactionNumber(rawValue: number)
            forgeries.append(ForgedOps("digest of \(number)", [.digest(of: transaction, GraphDigest(high: 1, low: 2))]))
            forgeries.append(ForgedOps("label of \(number)", [.label("forged", transaction)]))
        }
        for (name, object) in [("last", last), ("nowhere", nowhere), ("zero", ObjectID(root: thing.root, serial: 0))] {
            forgeries += [
                ForgedOps("insert \(name)", [.insert(object, entity: thing.number, [Assignment(id.number, .int(77))])]),
                ForgedOps("set \(name)", [.set(object, [Assignment(title.number, .string("x"))])]),
                ForgedOps("delete \(name)", [.delete([object, object])]),
                ForgedOps("link \(name)", [.link(first, steps.number, target: object, index: 0)]),
                ForgedOps("move \(name)", [.move(object, steps.number, target: step, index: Int(UInt32.max))]),
                ForgedOps("unlink \(name)", [.unlink(object, steps.number, target: step)]),
                ForgedOps("clone \(name)", [.clone(copy(of: object, UInt64(1) << 38 - 1, count: 1))]),
            ]
        }
        forgeries += [
            ForgedOps("link at an index that is too large", [.link(first, steps.number, target: step, index: Int(UInt32.max))]),
            ForgedOps("insert the last serial and then another", [.insert(last, entity: thing.number, [Assignment(id.number, .int(78))])]),
            ForgedOps("an unknown entity", [.insert(first, entity: EntityNumber(rawValue: .max), [])]),
            ForgedOps("an unknown property", [.set(first, [Assignment(PropertyNumber(rawValue: .max), .int(1))])]),
            ForgedOps("a clone of too many objects", [.clone(copy(of: first, 1 << 37, count: 1 << 37))]),
            ForgedOps("an invalid schema", [.schema(SchemaCatalog(json: Array("{\"entities\":{\"A\":{\"parent\":\"A\"}}}".utf8)))]),
            ForgedOps("a schema of nothing", [.schema(SchemaCatalog(json: Array("{\"entities\":{}}".utf8)))]),
            ForgedOps("invalid JSON", [.schema(SchemaCatalog(json: Array(repeating: 0x5B, count: 100_000)))]),
        ]
        return forgeries
    }

    private func copy(of object: ObjectID, _ firstSerial: UInt64, count: Int) -> CloneOp {
        let hierarchy = CloneOp.Hierarchy(root: thing.root, firstSerial: firstSerial, counts: [.init(thing.number, count)])
        return CloneOp(
            roots: [object], options: CloneOptions(), time: .max, seed: CloneSeed(low: .max, high: .max), hierarchies: [hierarchy],
            setHash: .max)
    }
}

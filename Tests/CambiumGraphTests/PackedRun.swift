import CambiumModel
import CambiumTesting
import Foundation
import Testing

@testable import CambiumGraph

/// A graph that is packed occasionally, and a second one that gets the same ops and is never packed. Both must stay equal.
struct PackedRun {
    let schema: Schema
    let thing: Entity
    let sub: Entity
    var random: SplitMix64
    let packed = Timeline()
    let plain = Timeline()
    private let storage = ChunkStorage()
    private var living: [ObjectID] = []
    private var nextSerial: UInt64 = 1
    /// Graphs of both timelines at the same moments.
    private var moments: [(packed: Graph, plain: Graph)] = []

    init(seed: UInt64) throws {
        random = SplitMix64(seed: seed)
        schema = try Schema(
            SchemaDefinition {
                EntityDefinition("Thing", identity: ["key"], unique: [["parent", "key"], ["flag", "partner"], ["first", "twin"]]) {
                    AttributeDefinition("key", .uuid, userInfo: ["rebuild": "uuid"])
                    AttributeDefinition("flag", .bool, .optional)
                    AttributeDefinition("name", .string, .optional)
                    AttributeDefinition("text", .string, .optional)
                    AttributeDefinition("code", .uuid, .optional)
                    RelationshipDefinition("parent", to: "Thing", inverse: "children")
                    RelationshipDefinition("children", to: "Thing", .toMany, inverse: "parent")
                    RelationshipDefinition("first", to: "Thing", inverse: "steps")
                    RelationshipDefinition("steps", to: "Thing", .orderedToMany, inverse: "first")
                    RelationshipDefinition("partner", to: "Thing", inverse: "partnerOf")
                    RelationshipDefinition("partnerOf", to: "Thing", inverse: "partner")
                    RelationshipDefinition("twin", to: "Thing", inverse: "twin")
                    RelationshipDefinition("friends", to: "Thing", .toMany, inverse: "friends")
                    RelationshipDefinition("likes", to: "Thing", .orderedToMany, inverse: "likedBy")
                    RelationshipDefinition("likedBy", to: "Thing", .toMany, inverse: "likes")
                    RelationshipDefinition("seen", to: "Thing", .toMany)
                }
                EntityDefinition("Sub", parent: "Thing") { AttributeDefinition("extra", .double, .optional) }
            })
        thing = try #require(schema.entity("Thing"))
        sub = try #require(schema.entity("Sub"))
        try apply([.schema(schema.catalog)])
    }

    func key(_ serial: UInt64) -> Value {
        let bytes = (0..<16).map { UInt8(truncatingIfNeeded: $0 < 8 ? serial >> UInt64(8 * $0) : 7) }
        return .uuid(bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
    }

    /// Applies ops to both timelines.
    mutating func apply(_ ops: [Op]) throws {
        for timeline in [packed, plain] { try ProgramRun.commit(ops, to: timeline) }
    }

    mutating func insert(_ count: Int) throws {
        var ops: [Op] = []
        for _ in 0..<count {
            let entity = random.isTrue(1, outOf: 3) ? sub : thing
            let id = ObjectID(root: thing.number, serial: nextSerial)
            var values: [(String, Value)] = [("key", key(nextSerial))]
            if random.isTrue(1, outOf: 2) { values.append(("flag", .bool(random.isTrue(1, outOf: 2)))) }
            if random.isTrue(2, outOf: 3) { values.append(("name", .string("name \(nextSerial)"))) }
            if random.isTrue(1, outOf: 40) { values.append(("text", .string(String(repeating: "long \(nextSerial) ", count: 60)))) }
            if entity === sub { values.append(("extra", .double(Double(nextSerial) / 4))) }
            let assignments = try values.map { Assignment(try #require(entity.attribute($0.0)).number, $0.1) }
            ops.append(.insert(id, entity: entity.number, assignments))
            living.append(id)
            nextSerial += 1
        }
        try apply(ops)
    }

    func inserting(_ serial: UInt64) throws -> Op {
        let id = ObjectID(root: thing.number, serial: serial)
        return .insert(id, entity: thing.number, [Assignment(try #require(thing.attribute("key")).number, key(serial))])
    }

    mutating func link(_ count: Int) throws {
        var ops: [Op] = []
        let names = ["parent", "children", "steps", "partner", "twin", "friends", "friends", "likes", "likedBy", "seen"]
        for _ in 0..<count {
            let name = try #require(names.randomElement(using: &random))
            let (from, to) = (try #require(living.randomElement(using: &random)), try #require(living.randomElement(using: &random)))
            // Some objects are linked to themselves.
            let target = random.isTrue(1, outOf: 20) ? from : to
            ops.append(.link(from, try #require(thing.relationship(name)).number, target: target, index: nil))
        }
        try apply(ops)
    }

    /// Deletes all objects except about one in `keep`, chosen at random.
    mutating func thin(keepingOneOf keep: Int) throws {
        var doomed: [ObjectID] = []
        living.removeAll { id in
            if random.isTrue(1, outOf: keep) { return false }
            doomed.append(id)
            return true
        }
        try apply([.delete(doomed)])
    }

    mutating func clone() throws {
        let roots = Array(living.prefix(3))
        let op = try CloneWriter.plan(plain.draft(), roots, CloneOptions()).op(time: Timestamp(microsecondsSince1970: 1)) {
            CloneSeed(low: 1, high: 2)
        }
        #expect(
            try CloneWriter.plan(packed.draft(), roots, CloneOptions()).op(time: Timestamp(microsecondsSince1970: 1)) {
                CloneSeed(low: 1, high: 2)
            }
                == op)
        try apply([.clone(op)])
        nextSerial = plain.draft().nextSerial(of: thing.number)
        living = Array(packed.head.objects(of: thing))
    }

    mutating func check(_ what: String) {
        #expect(packed.head.digest() == plain.head.digest(), "\(what)")
        #expect(packed.head.invariantFindings() == [], "\(what)")
        #expect(PageChecker.findings(in: packed) == [], "\(what)")
        let seen = packed.head.objects(of: thing).map { packed.head.provenance(of: packed.head.place(of: $0)!).changed }
        let wanted = plain.head.objects(of: thing).map { plain.head.provenance(of: plain.head.place(of: $0)!).changed }
        #expect(seen == wanted && Array(packed.head.objects(of: thing)) == Array(plain.head.objects(of: thing)), "\(what)")
        checkChanges(what)
    }

    /// Expects moved rows not to be changes, and changes to be found in any row.
    private mutating func checkChanges(_ what: String) {
        #expect(packed.head.changes(since: plain.head).lines == [], "\(what)")
        if let moment = moments.randomElement(using: &random) {
            #expect(packed.head.digest(after: moment.packed.digest(), of: moment.packed) == packed.head.digest(), "\(what)")
            #expect(packed.head.changes(since: moment.packed).lines == plain.head.changes(since: moment.plain).lines, "\(what)")
            #expect(moment.packed.changes(since: packed.head).lines == moment.plain.changes(since: packed.head).lines, "\(what), back")
        }
        moments.append((packed.head, plain.head))
    }

    /// Packs in steps until nothing is left to pack. Returns the number of steps.
    @discardableResult
    func pack(sparseness: Int = 4, storing: Bool = true) throws -> Int {
        var limits = PackingLimits()
        limits.sparseness = sparseness
        limits.groupCountMin = 2
        limits.rowCountMax = 100
        (limits.wasteByteCountMin, limits.wastePercentMin, limits.usedPercentMax) = (storing ? 0 : .max, 1, 99)
        limits.byteCountMax = 100_000
        var count = 0
        while count < 300, try packed.pack(limits) { count += 1 }
        return count
    }

    /// Stores the pages. Stored pages are not written to again, so their unused parts count as waste.
    func store() throws {
        _ = try packed.freeze()
        packed.reuse(.none)
    }

    var groupCount: Int {
        let table = packed.head.layout.table(of: thing.number)!.index
        return packed.head.version.reader.groupCount(table) - packed.head.version.reader.freeGroupCount(table)
    }
}

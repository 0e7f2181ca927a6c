public import CambiumGraph
public import CambiumModel

/// How many objects a clone copies.
public struct CloneSummary: Sendable {
    /// By concrete entity, in the order of their numbers, none of them 0.
    public let counts: [(entity: Entity, count: Int)]

    public var objectCount: Int { counts.reduce(0) { $0 + $1.count } }

    /// What an op of the log came to.
    public init(_ op: CloneOp, _ schema: Schema) { self.init(op.hierarchies, schema) }

    init(_ hierarchies: [CloneOp.Hierarchy], _ schema: Schema) {
        counts = hierarchies.flatMap(\.counts).compactMap { count in schema.entity(count.entity).map { ($0, count.count) } }
    }
}

/// What a clone made.
public struct Clone: Sendable {
    /// The copies of the objects that were asked for, in that order.
    public let roots: [ObjectID]
    public let summary: CloneSummary
    /// The copy of each object.
    public let map: CloneMap

    /// The copy of the first object that was asked for.
    public var root: ObjectID { roots[0] }
}

extension Graph {
    /// What a clone would come to now; it throws where the clone would. Docs/CLONE.md has the rules.
    ///
    ///     try store.graph.previewClone(of: [note]).objectCount
    public func previewClone(of ids: [ObjectID], _ request: CloneRequest = CloneRequest()) throws(CambiumError) -> CloneSummary {
        CloneSummary(try planClone(ids, request).hierarchies, schema)
    }
}

extension WriteTransaction {
    /// Copies objects with everything that they own: one op, whatever its size. Docs/CLONE.md has the rules.
    ///
    ///     let clone = try store.write { try $0.clone([note]) }
    ///     print(clone.root, clone.summary.objectCount)
    ///
    /// Throws `.notFound` for an object that is not there; `.unknownName`, `.invalidInput` for what the request cannot say;
    /// `.limitExceeded` for more objects than it allows; `.ruleViolated` where a value has nobody to follow or what has to be unique
    /// would be repeated. What only shows in the values (two copies with the same one) is told at the end of the transaction.
    ///
    /// Complexity: O(objects that are copied and their links).
    public mutating func clone(_ ids: [ObjectID], _ request: CloneRequest = CloneRequest()) throws(CambiumError) -> Clone {
        if recording == .comparison { throw Self.refusal(of: "clone") }
        try checkUsable()
        let plan = try draft.planClone(ids, request)
        let time = max(surroundings.now(), timeMin)
        let op = plan.op(time: time) { [surroundings] in CloneSeed(surroundings.randomBytes(16)) }
        try plan.checkTime(op)
        let map = CloneMap(plan, draft)
        let roots = plan.rootIDs.compactMap(map.copy(of:))
        let summary = CloneSummary(op, schema)
        try draft.clone(plan, op)
        ops.append(.clone(op))
        return Clone(roots: roots, summary: summary, map: map)
    }

    /// As `clone(_:_:)`, of one object.
    public mutating func clone(_ id: ObjectID, _ request: CloneRequest = CloneRequest()) throws(CambiumError) -> Clone {
        try clone([id], request)
    }
}

extension CloneSeed {
    init(_ bytes: [UInt8]) {
        let words = stride(from: 0, to: 16, by: 8).map { start in
            bytes[start..<start + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        self.init(low: words[0], high: words[1])
    }
}

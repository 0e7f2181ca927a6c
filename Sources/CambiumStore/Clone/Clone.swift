public import CambiumGraph
public import CambiumModel

/// The number of objects that a clone copies.
///
/// ```swift
/// let summary = try store.graph.previewClone(of: [note])
/// for (entity, count) in summary.counts { print(entity.name, count) }
/// ```
public struct CloneSummary: Sendable {
    /// The number of copied objects of each concrete entity, in the order of the entities' numbers. Each count is at least 1.
    public let counts: [(entity: Entity, count: Int)]

    /// The number of all objects that are copied. Complexity: O(entities in `counts`).
    public var objectCount: Int { counts.reduce(0) { $0 + $1.count } }

    /// Summarizes a clone from its op in the log.
    package init(_ op: CloneOp, _ schema: Schema) { self.init(op.hierarchies, schema) }

    init(_ hierarchies: [CloneOp.Hierarchy], _ schema: Schema) {
        counts = hierarchies.flatMap(\.counts).compactMap { count in schema.entity(count.entity).map { ($0, count.count) } }
    }
}

/// The outcome of a clone.
///
/// ```swift
/// let clone = try store.write { try $0.clone([note]) }.result
/// if let copy = clone.copy(of: item) { print(clone.root, copy) }
/// ```
public struct Clone: Sendable {
    /// The copies of the requested objects, in the order of the request. An object that was requested twice was copied once.
    public let roots: [ObjectID]
    /// The number of objects that were copied, by entity.
    public let summary: CloneSummary
    package let map: CloneMap

    /// The copy of the first requested object. A clone always has at least one root.
    public var root: ObjectID { roots[0] }

    /// Returns the copy of an object, or `nil` if the object was not copied. Complexity: O(log objects).
    public func copy(of id: ObjectID) -> ObjectID? { map.copy(of: id) }

    /// Calls `body` with each object and its copy, by ascending id of the object.
    public func forEachCopy<Failure: Error>(
        _ body: (_ original: ObjectID, _ copy: ObjectID) throws(Failure) -> Void
    ) throws(Failure) { try map.forEach(body) }
}

extension Graph {
    /// Returns how many objects a clone would copy now. Docs/Use/CLONE.md has the rules.
    ///
    /// Throws as `WriteTransaction.clone(_:_:)` would. Does not check the attributes that get the time of the clone, because that time is
    /// not known yet. Complexity: O(objects that the clone would copy and their links).
    ///
    /// ```swift
    /// print(try store.graph.previewClone(of: [note]).objectCount)
    /// ```
    public func previewClone(of ids: [ObjectID], _ request: CloneRequest = CloneRequest()) throws(CambiumError) -> CloneSummary {
        try previewClone(of: ids, request, at: nil)
    }

    /// Returns how many objects a clone at a given time would copy. Also throws `.ruleViolated` if an attribute that gets the time of the
    /// clone does not allow this time.
    package func previewClone(of ids: [ObjectID], _ request: CloneRequest, at time: Timestamp?) throws(CambiumError) -> CloneSummary {
        let plan = try planClone(ids, request)
        try plan.checkCreated(time)
        return CloneSummary(plan.hierarchies, schema)
    }
}

extension WriteTransaction {
    /// Copies objects with everything that they own, as one op of any size. Docs/Use/CLONE.md has the rules.
    ///
    /// ```swift
    /// let clone = try store.write { try $0.clone([note]) }.result
    /// print(clone.root, clone.summary.objectCount)
    /// ```
    ///
    /// Throws `.notFound` for a missing object, and `.unknownName` if the request contains an unknown name. Throws `.invalidInput` if `ids`
    /// is empty, or if the rules do not allow the request. Throws `.limitExceeded` for more than 65,536 roots, for more objects than the
    /// request allows, and if the graph cannot hold the copies. Throws `.ruleViolated` if a value is not allowed, or if copies would repeat
    /// the values of their originals in a unique set. Also throws `.ruleViolated` if an attribute takes its value from a parent that the
    /// object does not have. Other violations, such as two copies with the same unique value, are reported at the end of the transaction.
    ///
    /// Complexity: O(objects that are copied and their links).
    public mutating func clone(_ ids: [ObjectID], _ request: CloneRequest = CloneRequest()) throws(CambiumError) -> Clone {
        if recording == .comparison { throw Self.refusal(of: "clone") }
        try checkUsable()
        let plan = try CloneWriter.plan(draft, ids, request)
        let time = max(environment.now(), timeMin)
        let op = plan.op(time: time) { [environment] in CloneSeed(environment.randomBytes(16)) }
        try plan.checkTime(op)
        try plan.checkCreated(op.time)
        let map = CloneMap(plan, draft)
        let roots = plan.rootIDs.compactMap(map.copy(of:))
        let summary = CloneSummary(op, schema)
        try CloneWriter.clone(&draft, plan, op)
        ops.append(.clone(op))
        outcome?.withJournal { journal in
            for copies in op.hierarchies {
                journal.trackCopies(copies.root, from: copies.firstSerial, count: copies.counts.reduce(0) { $0 + $1.count })
            }
        }
        return Clone(roots: roots, summary: summary, map: map)
    }

    /// Copies one object with everything that it owns, as `clone(_:_:)` does. Throws the same errors.
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

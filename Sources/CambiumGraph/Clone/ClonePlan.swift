package import CambiumModel

/// The objects that a clone will copy. The planner finds, counts and checks these objects before the clone changes anything. A plan is
/// valid for the graph or draft from which it was made, until that graph or draft changes.
package struct ClonePlan: Sendable {
    /// An attribute whose value the clone creates in copies of objects of an entity. The value is a new UUID, or the time of the clone.
    struct CreatedValue: Sendable {
        let entity: Entity
        let attribute: Attribute
    }

    package let options: CloneOptions
    let members: CloneMembers
    let roots: [ObjectPlace]
    /// The copied rows, by table.
    var rows: [CloneRows]
    /// The objects in the order of the walk, each with its parent. Empty if no attribute takes its value from a parent.
    let entries: [CloneWalk.Entry]
    package let rootIDs: [ObjectID]
    package let hierarchies: [CloneOp.Hierarchy]
    package let setHash: UInt64
    /// Whether copies get new UUIDs, which are computed from a seed.
    package let needsSeed: Bool
    /// Whether copies get the time of the clone.
    package let needsTime: Bool
    /// The attributes that restrict their values by rules, and that get a new UUID or the time of the clone in at least one copy.
    let created: [CreatedValue]

    package var objectCount: Int { hierarchies.reduce(0) { $0 + $1.objectCount } }

    /// Returns the op that carries out the plan.
    package func op(time: Timestamp, seed: () -> CloneSeed) -> CloneOp {
        CloneOp(
            roots: rootIDs, options: options, time: needsTime ? time : nil, seed: needsSeed ? seed() : nil,
            hierarchies: hierarchies, setHash: setHash)
    }

    /// Throws `.invalidInput` if an attribute cannot hold the time of the clone.
    package func checkTime(_ op: CloneOp) throws(CambiumError) {
        guard let date = op.date else { return }
        for count in hierarchies.flatMap(\.counts) {
            for (attribute, rule) in members[count.entity].policy.attributes where rule.source == .now {
                _ = try StoredCell(.date(date), attribute)
            }
        }
    }

    /// Throws `.ruleViolated` if a copy gets a new UUID, or the time of the clone, that the rules of the attribute do not allow.
    ///
    /// A replay does not call this method, because the writer made the check before it wrote the log.
    ///
    /// - Parameter time: The time of the clone, or `nil` if only new UUIDs are checked.
    package func checkCreated(_ time: Timestamp?) throws(CambiumError) {
        for value in created {
            let violation: String?
            switch value.attribute.type {
            case .date: violation = time.flatMap { value.attribute.constraints.check(.date($0.date)) }.map { "the time of the clone \($0)" }
            // A new UUID is random, so a list of allowed values never contains the UUID.
            case .uuid: violation = value.attribute.constraints.allowed.map { _ in "a new UUID is not one of the allowed values" }
            default: violation = nil
            }
            guard let violation else { continue }
            throw CambiumError(
                .ruleViolated, "'\(value.entity.name).\(value.attribute.name)': \(violation). Change this rule in the schema.")
        }
    }
}

extension Graph {
    /// Plans a clone of objects of this graph, for callers that must know the size of the clone in advance.
    package func planClone(_ ids: [ObjectID], _ request: CloneRequest) throws(CambiumError) -> ClonePlan {
        try ClonePlanner(reader: reader, layout: layout, space: nil).plan(ids, request)
    }

    /// Returns the object that was copied to make this object, or `nil` if this object was not made by a clone. Complexity: O(1).
    ///
    /// The transaction that created the object is the transaction of the clone.
    package func source(of id: ObjectID) -> ObjectID? {
        guard let place = self.place(of: id), let serial = reader.rows(Int(place.table)).source(place.row) else { return nil }
        return ObjectID(root: id.root, serial: serial)
    }
}

extension CloneWriter {
    package static func plan(_ draft: borrowing Draft, _ ids: [ObjectID], _ request: CloneRequest) throws(CambiumError) -> ClonePlan {
        try ClonePlanner(reader: draft.reader, layout: draft.layout, space: draft.space).plan(ids, request)
    }

    package static func plan(_ draft: borrowing Draft, _ ids: [ObjectID], _ options: CloneOptions) throws(CambiumError) -> ClonePlan {
        try ClonePlanner(reader: draft.reader, layout: draft.layout, space: draft.space).plan(ids, options, objectCountMax: nil)
    }
}

import CambiumGraph
internal import CambiumLog
import CambiumModel

/// The changes of a transaction that only set attributes, as the ops of the log state them. No graph of that moment is needed.
extension AuditTrail {
    /// Returns the changes of a transaction, as changes between two graphs that equal `graph` elsewhere. Returns `nil` if the ops or the
    /// touch index do not show them; then the graphs before and after the transaction do.
    ///
    /// Throws `.corrupted` if the log is corrupt, and `.ioFailure` if it cannot be read. Complexity: O(objects of the transaction x bytes
    /// of the log between two joints).
    ///
    /// - Parameter graph: The newest graph. The changes name only objects that it has.
    func assignedChanges(of number: TransactionNumber, in graph: Graph) throws -> Changes? {
        let oldest = try oldest()
        guard number > oldest, graph.schemaTransaction < number, var touches = ObjectTouches(self, from: oldest) else { return nil }
        do {
            let record = try touches.record(number)
            guard let named = try OpSubjects(graph.schema).objects(of: record), try record.onlySets() else { return nil }
            touches.coverRest(through: graph.transaction, for: number)
            return number <= touches.covered ? try touches.changes(of: number, to: Set(named), in: graph) : nil
        } catch is ObjectTouches.Mistrust {
            return nil
        } catch let error as CambiumError where error.code == .notFound {
            return nil  // A compaction may have retired transactions in the meantime.
        }
    }
}

extension ObjectTouches {
    /// The maximum number of objects whose former values are searched.
    private static let objectCountMax = 16

    fileprivate mutating func changes(of number: TransactionNumber, to ids: Set<ObjectID>, in graph: Graph) throws -> Changes? {
        if ids.count > Self.objectCountMax { return nil }
        var changes: [ObjectChange] = []
        for id in ids.sorted() {
            guard let entity = graph.entity(of: id), let attributes = try attributes(of: entity, id, number, graph.schema) else {
                return nil
            }
            if !attributes.isEmpty { changes.append(ObjectChange(.init(id, entity, .changed, attributes, []), base: graph)) }
        }
        return Changes(edited: changes, base: graph)
    }

    /// Returns the attributes of an object that a transaction changed; `nil` if only graphs show them.
    private mutating func attributes(
        of entity: Entity, _ id: ObjectID, _ number: TransactionNumber, _ schema: Schema
    ) throws -> [AttributeChange]? {
        guard try last(of: id, upTo: number) == number, case .sets(let assigned) = try effect(of: number, on: id, schema) else {
            return nil
        }
        let attributes = entity.attributes.filter { assigned[$0.number] != nil }
        if attributes.count != assigned.count { return nil }
        var changes: [AttributeChange] = []
        for attribute in attributes {
            guard let value = assigned[attribute.number], let former = try self.value(of: attribute, of: id, before: number, schema),
                let form = ObjectLifeline.Form(value, attribute), let formerForm = ObjectLifeline.Form(former, attribute)
            else { return nil }
            if form != formerForm { changes.append(AttributeChange(attribute: attribute, before: former, after: value)) }
        }
        return changes
    }
}

extension LogRecord {
    /// Whether the ops of the transaction change nothing but attributes.
    fileprivate func onlySets() throws -> Bool {
        struct Other: Error {}
        do {
            try forEachOp { op in
                switch op {
                case .set, .digest, .undo: break
                default: throw Other()
                }
            }
        } catch is Other { return false }
        return true
    }
}

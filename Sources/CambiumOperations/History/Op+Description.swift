package import CambiumModel

extension Op {
    /// The kind of the op, as the command line prints it.
    package var kindName: String {
        switch self {
        case .schema: "schema"
        case .insert: "insert"
        case .set: "set"
        case .link: "link"
        case .unlink: "unlink"
        case .move: "move"
        case .delete: "delete"
        case .upsert: "upsert"
        case .relink: "relink"
        case .clone: "clone"
        case .mark: "mark"
        case .label: "label"
        case .undo: "undo"
        case .digest: "digest"
        }
    }

    /// Returns whether the op names an object. Objects that the op changes only indirectly, through a cascade or an inverse relationship,
    /// do not count.
    package func names(_ id: ObjectID, _ schema: Schema) -> Bool {
        switch self {
        case .schema, .label, .digest, .undo: return false
        case .insert(let object, _, _), .set(let object, _), .mark(let object, _, _): return object == id
        case .link(let object, _, let target, _), .unlink(let object, _, let target), .move(let object, _, let target, _):
            return object == id || target == id
        case .delete(let objects): return objects.contains(id)
        case .upsert(let block):
            return schema.entity(block.entity)?.root == id.root && block.serials.contains(id.serial)
        case .clone(let clone): return clone.roots.contains(id) || clone.makes(id)
        case .relink(let block):
            if block.root == id.root, block.serials.contains(id.serial) { return true }
            guard schema.relationship(block.property, ofRoot: block.root)?.destinationRoot == id.root else { return false }
            switch block.content {
            case .toOne(let targets): return targets.contains(id.serial)
            case .unordered(_, let removed, _, let added): return removed.contains(id.serial) || added.contains(id.serial)
            case .ordered(_, _, let suffixes): return suffixes.contains(id.serial)
            }
        }
    }

    /// Returns the root entities of the objects to which the op refers.
    package func roots(_ schema: Schema) -> Set<EntityNumber> {
        switch self {
        case .schema, .label, .digest, .undo: return []
        case .insert(let object, _, _), .set(let object, _), .mark(let object, _, _): return [object.root]
        case .link(let object, _, let target, _), .unlink(let object, _, let target), .move(let object, _, let target, _):
            return [object.root, target.root]
        case .delete(let objects): return Set(objects.map(\.root))
        case .upsert(let block): return schema.entity(block.entity).map { [$0.root] } ?? []
        case .clone(let clone): return Set(clone.hierarchies.map(\.root))
        case .relink(let block):
            return Set([block.root]).union(schema.relationship(block.property, ofRoot: block.root).map { [$0.destinationRoot] } ?? [])
        }
    }
}

extension SerialRuns {
    /// Returns whether one of the runs contains the given serial. Complexity: O(runs).
    package func contains(_ serial: UInt64) -> Bool {
        runs.contains { serial >= $0.first && serial < $0.first + UInt64($0.count) }
    }
}

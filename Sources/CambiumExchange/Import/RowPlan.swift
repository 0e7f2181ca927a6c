internal import CambiumBytes
import CambiumGraph
import CambiumModel

/// The changes of one row. The planner finds and checks all changes before the first change is made. A *table row* is the number of an
/// object in its table of the graph.
struct RowPlan {
    enum Target {
        case new
        case existing(UInt32)
        /// The same new object as the entry at an earlier index of `objects`. The row contains this object several times.
        case alias(Int)
        /// The object exists and must stay unchanged.
        case skipped(UInt32)
    }

    struct Object {
        let entity: EntityNumber
        let target: Target
        var isStub = false
        /// Whether the object is a stub that the row completes.
        var isFilled = false
        /// Whether the row describes the object. Otherwise, the row only refers to the object.
        var isDescribed = true
        /// The values that the row assigns to the object: indexes into the values of the batch.
        var values: Range<Int>
        /// Further values of the object: indexes into `extras`.
        var extras = 0..<0

        /// Whether the object exists and stays unchanged.
        var isSkipped: Bool { if case .skipped = target { true } else { false } }
    }

    /// A value that an object gets although this part of the row does not contain it: null, or the default of the attribute. `stated` means
    /// that another part of the row states the value, so that the extra has no effect.
    struct Extra {
        enum Kind { case null, standard, stated }

        let attribute: Int
        var kind: Kind
    }

    /// A mandatory value that a part of the row lacks. A later part of the row, or the program's hook, may supply the value.
    struct Lack {
        /// The index of the object in `objects`.
        let object: Int
        let attribute: Int
        /// The reason to refuse the row if nothing supplies the value.
        let failure: RowFailure
    }

    /// A member of a relationship.
    enum Member {
        /// The object at an index of `objects`.
        case object(Int)
        /// The table row of an existing object. The input only refers to the object, and `apply` does not call its `note` closure for the
        /// object.
        case row(UInt32)
    }

    struct Link {
        enum Change { case target, replace, append }

        let owner: Int
        let link: Int
        let change: Change
        let targets: Range<Int>
        /// Whether the change clears a relationship because its key is absent from the object in the row.
        var isOfAbsentKey = false
    }

    var objects: [Object] = []
    /// The index of the row's own object in `objects`.
    var root = 0
    /// Whether `apply` also calls its `note` closure for objects to which a row only refers. An import that deletes absent objects must
    /// know these objects.
    var notesNames = false
    var extras: [Extra] = []
    var lacks: [Lack] = []
    var links: [Link] = []
    var targets: [Member] = []
    /// The table rows of the objects in `objects`, up to the object that `apply` applied last.
    private var rows: [UInt32] = []
    private var members: [UInt32] = []

    mutating func removeAll() {
        objects.removeFew()
        extras.removeFew()
        if !lacks.isEmpty { lacks.removeAll() }
        links.removeFew()
        targets.removeFew()
    }

    // MARK: Applying

    /// The table row of the row's own object. The plan must have been applied.
    var rootRow: UInt32 { rows[root] }

    /// Returns the table row of the object at an index of `objects`. The plan must have been applied.
    func tableRow(ofObject place: Int) -> UInt32 { rows[place] }

    /// Applies the plan. Calls `note` with the table row of each object that the row describes. If `notesNames` is `true`, also calls
    /// `note` for the objects to which the row only refers.
    mutating func apply(
        to draft: inout Draft, _ batch: borrowing RowBatch, _ entities: ImportEntities,
        note: (Object, ImportEntity, UInt32) -> Void
    ) throws(CambiumError) {
        try CapacityCheck.check(draft)
        rows.removeFew()
        for object in objects {
            let row = try entities[object.entity].with { entity throws(CambiumError) in
                let row: UInt32
                switch object.target {
                case .new: row = try insert(object, entity, &draft, batch)
                case .existing(let existing):
                    row = existing
                    change(object, row, entity, &draft, batch)
                case .skipped(let existing): row = existing
                case .alias(let other):
                    row = rows[other]
                    change(object, row, entity, &draft, batch)
                }
                if object.isDescribed || notesNames { note(object, entity, row) }
                return row
            }
            rows.append(row)
        }
        for link in links {
            entities[objects[link.owner].entity].with { entity in apply(link, entity, &draft) }
        }
    }

    private func insert(
        _ object: Object, _ entity: ImportEntity, _ draft: inout Draft, _ batch: borrowing RowBatch
    ) throws(CambiumError) -> UInt32 {
        let table = entity.table
        let row = try ImportWriter.beginInsert(&draft, table)
        var hash: UInt64 = 0
        for place in object.values {
            let value = batch.values[place]
            if value.kind == .kept { continue }
            if value.key >= 0 { hash = batch.hash(of: value) }
            batch.withCell(value) { ImportWriter.initialize(&draft, table, row, attribute: Int(value.attribute), $0) }
        }
        for extra in extras[object.extras] where extra.kind == .standard {
            ImportWriter.initializeDefault(&draft, table, row, attribute: extra.attribute)
        }
        ImportWriter.endInsert(&draft, table, row, isStub: object.isStub, hash: hash)
        entity.track(row, draft)
        return row
    }

    private func change(
        _ object: Object, _ row: UInt32, _ entity: ImportEntity, _ draft: inout Draft, _ batch: borrowing RowBatch
    ) {
        let table = entity.table
        for place in object.values {
            let value = batch.values[place]
            if value.kind == .kept { continue }
            batch.withCell(value) { _ = ImportWriter.change(&draft, table, row, attribute: Int(value.attribute), $0) }
        }
        for extra in extras[object.extras] {
            switch extra.kind {
            case .null: ImportWriter.change(&draft, table, row, attribute: extra.attribute, .null)
            case .standard: ImportWriter.changeToDefault(&draft, table, row, attribute: extra.attribute)
            case .stated: break
            }
        }
        if object.isFilled, ImportWriter.isStub(draft, table, row) { ImportWriter.fill(&draft, table, row) }
        entity.track(row, draft)
    }

    @inline(__always)
    private func row(of member: Member) -> UInt32 {
        switch member {
        case .object(let place): rows[place]
        case .row(let row): row
        }
    }

    private mutating func apply(_ link: Link, _ entity: ImportEntity, _ draft: inout Draft) {
        let end = entity.links[link.link].end
        let owner = rows[link.owner]
        if link.change == .target {
            ImportWriter.setTarget(&draft, end, owner, link.targets.first.map { row(of: targets[$0]) })
            return
        }
        members.removeAll(keepingCapacity: true)
        for target in link.targets { members.append(row(of: targets[target])) }
        if members.count > 1 { Self.makeDistinct(&members) }
        if link.change == .replace {
            ImportWriter.replaceMembers(&draft, end, owner, members)
        } else {
            ImportWriter.appendMembers(&draft, end, owner, members)
        }
    }

    /// Removes duplicates, and keeps the first of several equal rows.
    private static func makeDistinct(_ rows: inout [UInt32]) {
        if rows.count <= 16 {
            var count = 0
            for place in rows.indices where !rows[..<count].contains(rows[place]) {
                rows[count] = rows[place]
                count += 1
            }
            rows.removeLast(rows.count - count)
            return
        }
        var seen = Set<UInt32>()
        rows.removeAll { !seen.insert($0).inserted }
    }
}

import CambiumModel

/// The source of the values in one column of the copies.
struct CloneColumn {
    enum Content {
        case copy
        case fill(StoredCell)
        case uuid(CloneUUIDs)
        case source
        /// The column in which members contain their owner, for a relationship whose lists of members are copied as a whole. The columns
        /// with the previous and the next member are copied together with this column.
        case members(CloneChain)
        /// The column in which owners contain their first member, for a relationship whose lists of members are copied as a whole. The
        /// columns with the last member and the count are copied together with this column.
        case owners(CloneChain)
    }

    let slot: Int
    let kind: ColumnKind
    let content: Content
    /// The entities that have the attribute, or `nil` if all entities of the table have it.
    let family: Set<EntityNumber>?
}

/// The values that the copies of a plan do not take from their originals. The values are checked and converted before anything is written.
struct CloneValues {
    struct OfRoot {
        let table: Int
        /// The row of the original.
        let row: UInt32
        let attribute: Attribute
        let cell: StoredCell
    }

    /// The columns of each table. The array of a table is empty if none of its rows is copied.
    let columns: [[CloneColumn]]
    let ofRoots: [OfRoot]
    /// The default of each attribute that takes its value from an ancestor. A copy without such an ancestor gets the default.
    let blanks: [ObjectIdentifier: StoredCell]

    /// Resolves the values of a plan. Throws `.invalidInput` or `.limitExceeded` if an attribute cannot hold a value.
    ///
    /// - Parameter reader: Reads the draft as it was before the clone.
    init(_ plan: borrowing ClonePlan, _ op: CloneOp, _ layout: GraphLayout, _ reader: Reader) throws(CambiumError) {
        var columns = [[CloneColumn]](repeating: [], count: layout.tables.count)
        for hierarchy in plan.hierarchies {
            guard let table = layout.table(of: hierarchy.root) else { continue }
            columns[table.index] = try Self.columns(of: table, plan, op, layout, reader)
        }
        self.columns = columns
        ofRoots = try Self.valuesOfRoots(plan, layout, reader)
        var blanks: [ObjectIdentifier: StoredCell] = [:]
        for follower in plan.members.all.flatMap(\.followers) where follower.follow.fallback == .blank {
            blanks[ObjectIdentifier(follower.attribute)] = try StoredCell(follower.attribute.defaultValue, follower.attribute)
        }
        self.blanks = blanks
    }

    private static func valuesOfRoots(
        _ plan: borrowing ClonePlan, _ layout: GraphLayout, _ reader: Reader
    ) throws(CambiumError) -> [OfRoot] {
        var values: [OfRoot] = []
        for value in plan.options.rootValues {
            for root in plan.roots where layout.root(ofTable: Int(root.table)) == value.root {
                let table = layout.tables[Int(root.table)]
                let entity = layout.schema.entity(reader.rows(table.index).entity(root.row, table))
                guard let entity, let attribute = entity.attribute(value.attribute) else { continue }
                if attribute.isDerived { throw attribute.refusal(in: entity) }
                values.append(
                    OfRoot(table: table.index, row: root.row, attribute: attribute, cell: try StoredCell(value.value, attribute)))
            }
        }
        return values
    }

    private static func columns(
        of table: TableLayout, _ plan: borrowing ClonePlan, _ op: CloneOp, _ layout: GraphLayout, _ reader: Reader
    ) throws(CambiumError) -> [CloneColumn] {
        var columns = [CloneColumn(slot: TableLayout.sourceSlot, kind: .fixed(width: 8), content: .source, family: nil)]
        if let slot = table.entitySlot { columns.append(CloneColumn(slot: slot, kind: .fixed(width: 2), content: .copy, family: nil)) }
        var seen = Set<PropertyNumber>()
        for entity in table.entities {
            guard let member = plan.members.policy[entity] else { continue }
            for (attribute, rule) in member.attributes where seen.insert(attribute.number).inserted {
                let slot = table.slot(of: attribute.number)
                let family = attribute.entity == attribute.root ? nil : layout.schema.entity(attribute.entity)?.family
                guard let content = try content(attribute, rule, table, plan, op, reader) else { continue }
                columns.append(CloneColumn(slot: slot, kind: table.columns[slot], content: content, family: family))
            }
        }
        return columns
    }

    /// Returns the contents of an attribute's column, or `nil` if the copies have null.
    private static func content(
        _ attribute: Attribute, _ rule: CloneAttributeRule, _ table: TableLayout, _ plan: borrowing ClonePlan, _ op: CloneOp,
        _ reader: Reader
    ) throws(CambiumError) -> CloneColumn.Content? {
        switch rule.source {
        case .original: return .copy
        case .defaultValue: return attribute.defaultValue.isNull ? nil : .fill(try StoredCell(attribute.defaultValue, attribute))
        case .newUUID:
            let rows = plan.rows[table.index]
            let objectCount = reader.liveCount(table.index)
            return op.seed.map {
                .uuid(CloneUUIDs($0, op.algorithm, attribute, firstSerial: rows.firstSerial, rows.count, among: objectCount))
            }
        case .now:
            guard let date = op.date else { return nil }
            return .fill(try StoredCell(.date(date), attribute))
        }
    }
}

import CambiumModel

/// One relationship of a path: a step from an object to the next object, or to several objects.
struct LinkStep {
    let end: EndLayout
    /// The other end of the link, which leads back from the targets to the owners.
    let inverse: EndLayout
    let ownerTable: TableLayout
    let targetTable: TableLayout
    let isToMany: Bool
    /// The entity that the relationship leads to.
    let target: EntityNumber
    let relationshipName: String

    init(_ relationship: Relationship, _ layout: GraphLayout) {
        end = layout.end(relationship)
        inverse = layout.end(relationship.link, 1 - relationship.end)
        ownerTable = layout.tables[layout.tableIndex(ofKnown: relationship.root)]
        targetTable = layout.tables[layout.tableIndex(ofKnown: relationship.destinationRoot)]
        isToMany = relationship.isToMany
        target = relationship.destination
        relationshipName = relationship.name
    }

    /// The column with the row of the only target; `nil` if the step leads to several objects.
    var linkSlot: Int? {
        switch end.layout {
        case .pair(_, let slots): slots[end.end]
        case .list(let list, let childEnd): end.end == childEnd ? list.ownerSlot : nil
        case .edges: nil
        }
    }

    /// The column with the number of targets; `nil` if the number is not stored in one column.
    var countSlot: Int? { end.countSlot }
}

extension EndLayout {
    /// The owners' column with the number of members; `nil` if no single column contains this number.
    var countSlot: Int? {
        switch layout {
        case .pair: return nil
        case .list(let list, let childEnd): return end == childEnd ? nil : list.countSlot
        case .edges(_, let lists, let isSymmetric): return isSymmetric ? nil : lists[end].countSlot
        }
    }
}

extension ListLayout {
    /// The owner's column with the number of members; `nil` if the list is ordered.
    var countSlot: Int? { if case .chain(_, _, let count, _, _) = shape { count } else { nil } }
}

import CambiumGraph
import CambiumModel

extension WriteTransaction {
    /// Applies the inverse of former changes as ops. Links are removed before objects are deleted, so that no delete rule reaches the
    /// objects that were unlinked. The order of members is set last. Throws the errors of `Draft.apply`, and `.ruleViolated` if the schema
    /// no longer allows a former value.
    mutating func apply(_ inverse: InverseChanges) throws(CambiumError) {
        for object in inverse.revivals {
            try check(object.values, object.entity)
            try record(.insert(object.id, entity: object.entity, object.values))
            if object.source > 0 || object.isStub { try record(.mark(object.id, source: object.source, isStub: object.isStub)) }
        }
        for (id, assignments) in inverse.values {
            if let entity = draft.entity(of: id) { try check(assignments, entity.number) }
            try record(.set(id, assignments))
        }
        for mark in inverse.marks { try record(.mark(mark.id, source: mark.source, isStub: mark.isStub)) }
        for link in inverse.unlinked { try record(.unlink(link.id, link.property, target: link.target)) }
        for link in inverse.linked { try record(.link(link.id, link.property, target: link.target, index: nil)) }
        if !inverse.deleted.isEmpty { try record(.delete(inverse.deleted)) }
        for order in inverse.orders { try arrange(order) }
        for label in inverse.labels { try record(.label(label.name, label.transaction)) }
    }

    /// Gives the members of an ordered relationship their former order. Complexity: O(members).
    private mutating func arrange(_ order: MemberArrangement) throws(CambiumError) {
        guard let present = draft.members(order.relationship, of: order.id) else { return }
        let wanted = order.arranged(present)
        let kept = zip(present, wanted).prefix { $0 == $1 }.count
        if kept == wanted.count { return }
        var serials = SerialRuns()
        serials.append(order.id.serial)
        let suffix = wanted[kept...].map(\.serial)
        let content = LinkBlock.Content.ordered(
            keptCounts: [UInt32(clamping: kept)], suffixCounts: [UInt32(clamping: suffix.count)], suffixes: suffix)
        try record(.relink(LinkBlock(root: order.id.root, property: order.relationship.number, serials: serials, content: content)))
    }

    private borrowing func check(_ assignments: [Assignment], _ entity: EntityNumber) throws(CambiumError) {
        guard let entity = draft.schema.entity(entity) else { return }
        for assignment in assignments {
            guard let attribute = entity.attribute(assignment.property), !assignment.value.isNull,
                let violation = attribute.violation(by: assignment.value)
            else { continue }
            throw CambiumError(
                .ruleViolated,
                "The former value of '\(entity.name).\(attribute.name)' \(violation), so it cannot be restored. Allow it in the schema "
                    + "first.")
        }
    }
}

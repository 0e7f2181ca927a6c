import CambiumGraph
import CambiumModel

/// Finds the objects that a row mentions inside an object that stays unchanged.
extension RowPlanner {
    /// Records the existing objects to which the links of an unchanged object lead. The row changes none of them, but an import that
    /// deletes absent objects must keep them. The recursion is as deep as the objects nest in the row, so its depth is limited.
    ///
    /// Throws if a part of the row could not be read. This part may mention any object, so no object may be deleted.
    ///
    /// - Parameter owner: The index of the unchanged object in the plan; `nil` if a row describes an object that does not exist.
    mutating func trackMentions(
        in links: RowBatch.Span, of entity: ImportEntity, at owner: Int?, _ batch: borrowing RowBatch, _ draft: borrowing Draft
    ) throws(RowFailure) {
        for number in links.range {
            let link = batch.links[number]
            switch link.kind {
            case .kept, .cleared: continue
            case .failed: throw batch.failures[Int(link.failure)]
            case .members: break
            }
            let destination = entities[entity.ends[Int(link.index)].destination].counted
            steps.append(Step(entity: entity.number, link: number, owner: owner))
            defer { steps.removeLast() }
            for place in link.members.range {
                let member = batch.members[place]
                switch member.kind {
                case .described: try trackMention(batch.objects[Int(member.place)], batch, draft)
                case .named:
                    let target = find(batch.values[Int(member.place)], destination, batch, draft)
                    if case .existing(let row) = target { trackMention(row, destination) }
                case .failed: throw batch.failures[Int(member.place)]
                }
            }
        }
    }

    private mutating func trackMention(
        _ read: RowBatch.Object, _ batch: borrowing RowBatch, _ draft: borrowing Draft
    ) throws(RowFailure) {
        if let number = subEntity(of: read, batch, draft) {
            _ = misread(read, as: number)
            return
        }
        if read.failure >= 0 { throw batch.failures[Int(read.failure)] }
        let entity = entities[read.entity].counted
        // If a value of the identity is missing or null, the description identifies no existing object, but its links may still mention
        // existing objects.
        var place: Int?
        if case .existing(let row)? = knownTarget(read, entity, batch, draft) {
            place = plan.objects.count
            trackMention(row, entity)
        }
        try trackMentions(in: read.links, of: entity, at: place, batch, draft)
    }

    private mutating func trackMention(_ row: UInt32, _ entity: ImportEntity) {
        plan.objects.append(.init(entity: entity.number, target: .skipped(row), isDescribed: false, values: 0..<0))
    }
}

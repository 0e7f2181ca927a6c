import Cambium
import CambiumGraph
import CambiumModel
import CambiumTesting
import TestFixtures

@testable import CambiumLog
@testable import CambiumOperations

/// Compares histories and blame with a search through the differences of all transactions.
extension StoreRun {
    /// The transactions that were not retired, with their differences.
    private struct Scan {
        let steps: [(step: TransactionStep, changes: Changes)]
        let latest: Schema

        var ids: [ObjectID] { Array(Set(steps.flatMap { $0.changes.map(\.id) })).sorted() }
    }

    mutating func checkAudit() throws {
        let trail = random.isTrue(1, outOf: 2) ? AuditTrail(volume) : try store.audit()
        let scan = try self.scan(trail)
        for id in scan.ids.shuffled(using: &random).prefix(8) {
            try checkHistory(of: id, trail, scan)
            if store.graph.contains(id) { try checkBlame(of: id, trail, scan) }
        }
        try checkWholeHistory(trail, scan)
        for _ in 0..<4 { try checkSearch(trail, scan) }
        try checkTouches(scan)
    }

    /// Compares histories and blame with the touch index in some of its states. All programs together reach every state many times.
    private mutating func checkTouches(_ scan: Scan) throws {
        for state in TouchState.allCases.shuffled(using: &random).prefix(2) {
            let copy = MemoryVolume(contents: volume.contents)
            try state.prepare(copy, &random)
            let trail = AuditTrail(copy)
            for id in scan.ids.shuffled(using: &random).prefix(3) {
                do {
                    try checkHistory(of: id, trail, scan, checksGaps: false)
                    if store.graph.contains(id) { try checkBlame(of: id, trail, scan) }
                } catch let finding as Finding { throw Finding("with the touch index in the state \(state), \(finding)") }
            }
        }
    }

    /// Reads all transactions with a cursor, and compares each of them with the reference graphs.
    private func scan(_ trail: AuditTrail) throws -> Scan {
        let oldest = try trail.oldest()
        if Int(oldest.rawValue) - 1 > firstCertain { throw Finding("transaction \(oldest) is the oldest, kept since \(firstCertain)") }
        var steps: [(step: TransactionStep, changes: Changes)] = []
        var cursor = try trail.transactions(from: oldest)
        while let step = try cursor.next() {
            let number = Int(step.entry.number.rawValue)
            let changes = step.changes
            if number > 1 {
                let (before, after) = (moments[number - 2].reference, moments[number - 1].reference)
                try Finding.check(difference(changes, from: before, to: after), "the changes of transaction \(number)")
            }
            steps.append((step, changes))
        }
        guard cursor.position.rawValue == UInt64(moments.count) else { throw Finding("the cursor ended at \(cursor.position)") }
        return Scan(steps: steps, latest: store.graph.schema)
    }

    private func text(_ entries: [HistoryEntry]) -> [String] {
        entries.filter { $0.object != nil }.map { "\($0.transaction) \($0.object?.name ?? "") \($0.change)" }
    }

    private func checkHistory(of id: ObjectID, _ trail: AuditTrail, _ scan: Scan, checksGaps: Bool = true) throws {
        let found = try text(trail.history(of: id))
        let expected = text(rows(of: id, scan))
        if found != expected {
            throw Finding("the history of \(id) is\n\(found.joined(separator: "\n"))\nand not\n\(expected.joined(separator: "\n"))")
        }
        guard checksGaps else { return }
        let check = try trail.checkHistory(of: id)
        if !check.isComplete { throw Finding("the history of \(id) has gaps at \(check.gaps)") }
    }

    /// Searches all transactions for the changes of an object and of the sources from which clones made it.
    private func rows(of id: ObjectID, _ scan: Scan) -> [HistoryEntry] {
        let rows = HistoryRows(latest: scan.latest, properties: [])
        var (id, entries) = (id, [HistoryEntry]())
        for (step, changes) in scan.steps.reversed() {
            while true {
                let change = changes.object(id)
                let source = change?.kind == .inserted ? step.clonedSource(of: id) : nil
                entries += rows.rows(change, of: id, step, source: source)
                guard let source else { break }
                id = source
                if step.before.contains(source) || !step.after.contains(source) { break }
            }
        }
        return entries
    }

    private func checkWholeHistory(_ trail: AuditTrail, _ scan: Scan) throws {
        let rows = HistoryRows(latest: scan.latest, properties: [])
        var expected: [HistoryEntry] = []
        for (step, changes) in scan.steps.reversed() {
            for change in changes {
                let source = change.kind == .inserted ? step.clonedSource(of: change.id) : nil
                expected += rows.rows(change, of: change.id, step, source: source)
            }
        }
        var found: [HistoryEntry] = []
        try trail.history(HistorySelection()) { entry in
            found.append(entry)
            return true
        }
        if text(found) != text(expected) { throw Finding("the history of the store differs from its transactions") }
    }

    /// Searches for the first transaction after which an object has a value or a number of members that some object had. Compares the
    /// result with a query of every moment, with the names of that moment.
    private mutating func checkSearch(_ trail: AuditTrail, _ scan: Scan) throws {
        guard let (step, changes) = scan.steps.randomElement(using: &random),
            let change = changes.filter({ $0.kind != .deleted }).randomElement(using: &random)
        else { return }
        var (property, test): (String?, String) = (nil, "true")
        var arguments: [String: Operand] = [:]
        if let value = change.attributes.randomElement(using: &random), random.isTrue(3, outOf: 4) {
            (property, test) = (value.attribute.name, " == $value")
            arguments["value"] = Operand(.literal(.value(value.after)))
        } else if let members = change.relationships.filter({ $0.relationship.isToMany }).randomElement(using: &random) {
            let count = step.after.members(members.relationship, of: change.id)?.count ?? 0
            (property, test) = (members.relationship.name, ".@count == \(count)")
        }
        let (name, condition) = (change.entity.name, (property ?? "") + test)
        guard (try? Query(name, where: condition, arguments)) != nil, let start = scan.steps.randomElement(using: &random) else { return }
        // The names in a condition are those of the newest moment.
        func found(in graph: Graph) -> [ObjectID]? {
            let named = scan.latest
            let schema = graph.schema
            guard let entity = named.entity(name).flatMap({ schema.entity($0.number) }) ?? schema.entity(name) else { return nil }
            var own = property
            if let property, let source = named.entity(entity.number) {
                let attribute = source.attribute(property).flatMap { entity.attribute($0.number)?.name }
                let relationship = source.relationship(property).flatMap { entity.relationship($0.number)?.name }
                own = attribute ?? relationship ?? property
            }
            return try? graph.find(Query(entity.name, where: (own ?? "") + test, arguments))
        }
        let rest = scan.steps.drop { $0.step.entry.number < start.step.entry.number }
        let expected = rest.first { found(in: $0.step.after)?.isEmpty == false }?.step.entry.number
        let first: TransactionNumber?
        do {
            first = try trail.firstTransaction(where: condition, arguments, entity: name, from: start.step.entry.number)?.step.entry.number
        } catch let error as CambiumError where [.invalidInput, .unknownName].contains(error.code) {
            // The condition may fit only moments within the range.
            let ends = [start.step.before, scan.steps.last?.step.after].compactMap(\.self)
            if expected != nil, ends.contains(where: { found(in: $0) != nil }) { throw error }
            return
        }
        if first != expected {
            throw Finding("'\(condition)' of \(name) holds first after \(String(describing: first)), not \(expected as Any)")
        }
    }

    // MARK: Blame

    private mutating func checkBlame(of id: ObjectID, _ trail: AuditTrail, _ scan: Scan) throws {
        let ignored = Set(scan.steps.map(\.step.entry.number).filter { _ in random.isTrue(1, outOf: 5) })
        guard let entity = store.graph.entity(of: id) else { return }
        let rows = try trail.blame(of: id) { ignored.contains($0.number) }
        let numbers = entity.attributes.map(\.number) + entity.relationships.map(\.number)
        for (row, number) in zip(rows, numbers) {
            let expected = origin(of: number, of: id, scan, ignored)
            if row.transaction != expected?.number || row.source?.id != expected?.source || row.isIgnored != expected?.isIgnored ?? false {
                throw Finding(
                    "\(row.property) of \(id) was set by \(row.transaction?.description ?? "-") in \(row.source?.name ?? "-"), and not by "
                        + "\(expected.map { "\($0)" } ?? "-"), without \(ignored.sorted()), after "
                        + text(self.rows(of: id, scan)).joined(separator: "\n")
                        + ", with the migrations \(scan.steps.filter { $0.step.changesSchema }.map(\.step.entry.number))")
            }
        }
    }

    private func origin(
        of property: PropertyNumber, of id: ObjectID, _ scan: Scan, _ ignored: Set<TransactionNumber>
    ) -> (number: TransactionNumber, source: ObjectID?, isIgnored: Bool)? {
        var (own, source): (ObjectID, ObjectID?) = (id, nil)
        var newestIgnored: (number: TransactionNumber, source: ObjectID?, isIgnored: Bool)?
        for (step, changes) in scan.steps.reversed() {
            let number = step.entry.number
            while true {
                let change = changes.object(own)
                let next = change?.kind == .inserted ? step.clonedSource(of: own) : nil
                let isTogether = next.map { !step.before.contains($0) && step.after.contains($0) } ?? false
                let former = isTogether ? step.after : step.before
                if isSet(property, of: own, change, next, step, former) {
                    if !ignored.contains(number) { return (number, source, false) }
                    newestIgnored = newestIgnored ?? (number, source, true)
                }
                guard let next else { break }
                (own, source) = (next, next)
                if !isTogether { break }
            }
        }
        return newestIgnored
    }

    private func isSet(
        _ property: PropertyNumber, of id: ObjectID, _ change: ObjectChange?, _ source: ObjectID?, _ step: TransactionStep, _ former: Graph
    ) -> Bool {
        func has(_ graph: Graph) -> Bool? {
            graph.entity(of: id).map { $0.attribute(property) != nil || $0.relationship(property) != nil }
        }
        if change?.kind == .inserted {
            if has(step.after) == false { return false }
            guard let source else { return true }
            return content(property, of: id, step.after, copiedIn: step.entry.number) != content(property, of: source, former)
        }
        if change?.kind == .deleted { return false }
        if has(step.before) == false, has(step.after) == true { return true }
        guard let change else { return false }
        let difference = ObjectDifference(change, after: step.after)
        return (difference.attributes.map(\.number) + difference.relationships.map(\.number)).contains(property)
    }

    /// Returns a text for the value or the members of a property. Members that a transaction copied count as their sources.
    private func content(
        _ property: PropertyNumber, of id: ObjectID, _ graph: Graph, copiedIn number: TransactionNumber? = nil
    ) -> String? {
        guard let entity = graph.entity(of: id) else { return nil }
        if let attribute = entity.attribute(property) { return "\(graph.value(of: attribute, of: id) ?? .null)" }
        guard let relationship = entity.relationship(property) else { return nil }
        let members = (graph.members(relationship, of: id) ?? []).map { member -> ObjectID in
            guard let place = graph.place(of: member), graph.provenance(of: place).created == number else { return member }
            return graph.source(of: member) ?? member
        }
        return "\(relationship.isOrdered ? members : members.sorted())"
    }
}

import CambiumGraph
import CambiumModel
import CambiumTesting

extension StoreRun {
    /// Compares a graph with the newest graph or with a held one, in both directions.
    mutating func compareWithAnother(_ graph: Graph) throws {
        let moment = moments[Int(graph.transaction.rawValue) - 1]
        var others = held.map { (graph: $0.graph, moment: $0.moment) }
        if let last = moments.last { others.append((store.graph, last)) }
        guard let other = random.pick(others) else { return }
        try check(graph.changes(since: other.graph), other.moment, moment)
        try check(other.graph.changes(since: graph), moment, other.moment)
    }

    private func check(_ changes: Changes, _ before: Moment, _ after: Moment) throws {
        let what = "the changes from transaction \(changes.before.transaction) to \(changes.after.transaction)"
        try Finding.check(difference(changes, from: before.reference, to: after.reference), what)
        let names = Set(before.labels.keys).union(after.labels.keys).sorted()
        let labels = names.map { LabelChange(name: $0, before: before.labels[$0], after: after.labels[$0]) }
        if changes.labels != labels.filter({ $0.before != $0.after }) { throw Finding("\(what) have the labels \(changes.labels)") }
    }
}

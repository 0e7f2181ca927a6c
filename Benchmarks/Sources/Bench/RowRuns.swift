import Cambium

/// Ten runs of neighboring rows of the imported store. Together, the runs contain one hundredth of all objects.
struct RowRuns {
    private let count: Attribute
    private let runs: [ArraySlice<ObjectID>]

    init(_ graph: Graph, _ settings: Settings) throws {
        let row = try graph.schema.required("row")
        count = try row.requiredAttribute("count")
        let ids = Array(graph.objects(of: row))
        let length = settings.synth.objectCount / 1000
        runs = (0..<10).map { ids[($0 * ids.count / 10)...].prefix(length) }
    }

    var objectCount: Int { runs.reduce(0) { $0 + $1.count } }

    /// Sets the count of all rows in the runs to one value, in one transaction.
    func change(_ store: Store, to value: Int64) throws {
        try store.write { transaction in
            for id in runs.joined() { try transaction.set(id, count, to: .int(value)) }
        }
    }
}

import Cambium
import CambiumJSON

/// The answer to a request that was applied before: that of the first time, as far as the log has it.
struct Repetition {
    private let request: RepeatedRequest
    /// The object that the transaction was about; nil where it was an import.
    private let object: String?
    /// What it made, where it was a clone.
    private let clone: CloneReport?

    init(_ path: String, _ request: RepeatedRequest) throws {
        self.request = request
        var ops: [Op] = []
        var byteCount = 0
        try TransactionLog(of: path).forEach(from: request.transaction) { entry in
            if entry.number == request.transaction { (ops, byteCount) = (try entry.ops(), entry.byteCount) }
        }
        let graph = try ReadOnlyStore(at: path, point: .transaction(request.transaction)).graph
        object = ops.first?.object.map(graph.text(of:))
        if case .clone(let op)? = ops.first {
            clone = CloneReport(op, request.transaction, byteCount, graph)
        } else {
            clone = nil
        }
    }

    func tell(json: Bool) {
        if let clone { return clone.tell(json: json, isRepeated: true) }
        guard json else {
            let object = object.map { "\($0) " } ?? ""
            return Terminal.print("\(object)in transaction \(request.transaction): the request was applied then, and not again")
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("transaction")
        writer.number(request.transaction.rawValue)
        if let object {
            writer.key("id")
            writer.string(object)
        }
        writer.key("repeated")
        writer.bool(true)
        writer.endObject()
        Terminal.print(writer.text)
    }
}

extension Op {
    /// The object that an op of an edit is about.
    fileprivate var object: ObjectID? {
        switch self {
        case .insert(let id, _, _), .set(let id, _), .link(let id, _, _, _), .unlink(let id, _, _), .move(let id, _, _, _): id
        case .delete(let ids): ids.first
        case .schema, .upsert, .relink, .clone, .label, .digest: nil
        }
    }
}

import Cambium
import CambiumJSON

/// The answer to a request that was applied earlier. The answer repeats the first answer as far as the log still contains its data.
struct Repetition {
    private let request: RepeatedRequest
    /// The objects that the transaction changed. Empty if no op in the log names them.
    private let objects: [String]
    /// The number of objects that a deletion reached through delete rules. It is 0 if a graph before or after the deletion is not
    /// available.
    private let reachedCount: Int
    /// The op of the request, if it was a clone, and a graph that contains the copies.
    private let clone: (op: CloneOp, graph: Graph)?
    private let byteCount: Int
    /// Whether the changes of the request were retired, so that only the id of its first object is left.
    private let isRetired: Bool

    /// - Parameter subjects: The objects in the arguments. They are used if the request changed nothing, because then no op in the log
    ///   names the objects.
    init(_ path: String, _ request: RepeatedRequest, subjects: [String] = []) throws {
        self.request = request
        let entry = try TransactionLog(of: path).entry(request.transaction)
        isRetired = entry?.isRetired ?? true
        let ops = if let entry, !isRetired { try entry.ops() } else { [Op]() }
        let graph = try ReadOnlyStore.graph(of: path, after: request.transaction)
        var named = graph
        var reached = 0
        if case .delete(let ids)? = ops.first {
            // The graph after the transaction does not have the object, so it does not have the object's entity either.
            let earlier = TransactionNumber(rawValue: max(1, request.transaction.rawValue) - 1)
            named = try ReadOnlyStore.graph(of: path, after: earlier)
            if named.transaction == earlier, graph.transaction == request.transaction {
                reached = Deletion.reachedCount(from: named, to: graph, ids.count)
            }
        }
        reachedCount = reached
        let changed = isRetired ? request.object.map { [$0] } ?? [] : ops.first?.objects ?? []
        objects = changed.isEmpty ? Self.texts(of: subjects, graph) : changed.map(named.text(of:))
        if case .clone(let op)? = ops.first { clone = (op, graph) } else { clone = nil }
        byteCount = entry?.byteCount ?? 0
    }

    /// Writes the map of the clone to a file, as the first command did. Throws `.notFound` if the log no longer contains the clone.
    func writeMap(to path: String) throws {
        guard let clone else {
            throw CambiumError(
                .notFound, "The map of transaction \(request.transaction) cannot be written, because its changes were retired. Omit --map.")
        }
        let map = try CloneMapFile(path)
        do {
            try map.write(clone.op, clone.graph)
        } catch {
            map.discard()
            throw error
        }
        try map.keep()
    }

    /// Returns the text of each object, in order. An object that is named twice is returned once, as in the first answer to the request.
    private static func texts(of subjects: [String], _ graph: Graph) -> [String] {
        var seen: Set<ObjectID> = []
        let distinct = subjects.filter { text in object(text, graph).map { seen.insert($0).inserted } ?? true }
        return distinct.map { text(of: $0, graph) }
    }

    /// Returns the id with the name of the object's concrete entity, or the original text if the object no longer exists.
    private static func text(of id: String, _ graph: Graph) -> String {
        guard let found = object(id, graph), graph.contains(found) else { return id }
        return graph.text(of: found)
    }

    /// Returns the id of an object in an argument. Returns `nil` if the argument has an identity that no object has any more.
    private static func object(_ text: String, _ graph: Graph) -> ObjectID? {
        graph.schema.id(text)?.id ?? (try? graph.schema.object(text, in: graph)).map { graph.id(of: $0.place) }
    }

    func print(json: Bool) {
        if let clone {
            return CloneReport(clone.op, request.transaction, byteCount, clone.graph).print(json: json, isRepeated: true)
        }
        guard json else {
            let named = objects.isEmpty ? "" : objects.joined(separator: ", ") + Deletion.text(reachedCount) + " "
            return Terminal.print(named + Self.text(request.transaction, isRetired: isRetired))
        }
        Terminal.printObject { writer in
            writer.member("transaction", request.transaction)
            writer.ids(objects)
            writer.cascaded(reachedCount)
            writeEnd(to: &writer)
        }
    }

    /// Prints the answer to a repeated import or a repeated change of the schema. The log does not contain the original report of such a
    /// command, so the answer cannot repeat the report. The key `repeated` does not identify the answer, because an import report has this
    /// key, too, with a count. So the answer has the key `request`, which no report has.
    func printWithoutReport(json: Bool) {
        let number = request.transaction
        guard json else { return Terminal.print(Self.text(number, isRetired: isRetired)) }
        Terminal.printObject { writer in
            writer.member("transaction", number)
            writer.member("request", request.request)
            writer.member("logBytes", byteCount)
            writeEnd(to: &writer)
        }
    }

    /// Returns the answer to a repeated request, for people.
    static func text(_ number: TransactionNumber, isRetired: Bool = false) -> String {
        "in transaction \(number): the request was applied then, and is not repeated"
            + (isRetired ? ". Its changes were retired, so this answer has only what the store still knows" : "")
    }

    private func writeEnd(to writer: inout JSONWriter) {
        writer.member("repeated", true)
        if isRetired { writer.member("retired", true) }
    }
}

extension Error {
    /// The earlier application of the request, if the error states that the request was applied already.
    var repeatedRequest: RepeatedRequest? { (self as? CambiumError)?.underlying as? RepeatedRequest }
}

extension ReadOnlyStore {
    /// Returns the graph after a transaction. If this moment is not available, returns the newest graph, which may still contain the
    /// objects and names of that moment.
    ///
    /// A moment is not available if its transaction was retired. After an interrupted compaction, the moments between the last retired
    /// transaction and the checkpoint of that compaction are not available either.
    static func graph(of path: String, after number: TransactionNumber) throws -> Graph {
        do {
            return try ReadOnlyStore(at: path, point: .transaction(number)).graph
        } catch let error as CambiumError where error.code == .notFound {
            return try ReadOnlyStore(at: path).graph
        }
    }
}

extension Op {
    /// The object that the op changes, or the objects that it deletes. Empty for ops that only imports and other commands write.
    fileprivate var objects: [ObjectID] {
        switch self {
        case .insert(let id, _, _), .set(let id, _), .link(let id, _, _, _), .unlink(let id, _, _), .move(let id, _, _, _),
            .mark(let id, _, _):
            [id]
        case .delete(let ids): ids
        case .schema, .upsert, .relink, .clone, .label, .digest, .undo: []
        }
    }
}

extension JSONWriter {
    /// Writes the key `id` with the first id, if there is one. If there are several ids, also writes the key `ids` with all of them.
    mutating func ids(_ ids: [String]) {
        if let first = ids.first { member("id", first) }
        if ids.count > 1 { member("ids", ids) }
    }
}

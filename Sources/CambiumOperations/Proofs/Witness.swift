public import CambiumModel
public import CambiumProofs

/// A witness: it cosigns checkpoints of logs, each only if it continues the one that it has cosigned before. Its memory is a store.
///
/// ```swift
/// let witness = Witness(try Store.open(at: "witness", creating: try Witness.schema))
/// ```
public struct Witness {
    private let store: Store

    /// The schema of the store of a witness.
    public static var schema: Schema {
        get throws(CambiumError) {
            let json = """
                {"entities": {"Log": {"identity": ["origin"], "attributes": {
                    "origin": {"type": "string"}, "key": {"type": "string"}, "size": {"type": "int64", "default": 0},
                    "root": {"type": "string", "default": ""}, "note": {"type": "string", "default": ""}}}}}
                """
            return try Schema(SchemaDefinition(json: Array(json.utf8)))
        }
    }

    /// Creates a witness with the memory of a store, which has the schema `Witness.schema`.
    public init(_ store: Store) { self.store = store }

    /// Lets the witness cosign the checkpoints of a log.
    ///
    /// Throws `.conflict` if the witness knows the log with another key, and the errors of a write.
    public func add(_ log: NoteKey) throws {
        let origin = Value.string(log.name)
        if let known = try store.graph.find("Log", identity: [origin]) {
            if try store.graph[known, "key"] == .string(log.description) { return }
            throw CambiumError(.conflict, "The witness knows the log '\(log.name)' with another key. Use another store for the new key.")
        }
        _ = try store.write(Author(message: "witness \(log.name)")) {
            try $0.insert("Log", ["origin": origin, "key": .string(log.description)])
        }
    }

    /// Cosigns a checkpoint. Its size and root are durable in the store before this call returns the cosignature.
    ///
    /// Throws `.notProved` if the log has not signed the checkpoint, or if the proof does not lead from the last cosigned tree to it.
    /// Throws `.conflict` if the proof begins with another size than the last cosigned one, and `.notFound` if the witness does not know
    /// the log. Throws `.invalidInput` for a key of a log. Complexity: O(bytes of the request).
    ///
    /// - Parameters:
    ///   - request: a checkpoint with a proof of consistency, as `Store.proveConsistency` makes it (C2SP tlog-witness, `add-checkpoint`).
    ///   - keys: the keys of the witness. Each of them cosigns.
    ///   - time: the time that the cosignature states; `nil` for the current time.
    /// - Returns: the checkpoint as a note that has only the cosignatures.
    public func cosign(_ request: ConsistencyFile, with keys: [SigningKey], at time: Timestamp? = nil) throws -> SignedNote {
        let microseconds = (time ?? StoreEnvironment.system.now()).microsecondsSince1970
        guard !keys.isEmpty, keys.allSatisfy({ $0.verifier.kind == .witness }), microseconds >= 1_000_000 else {
            throw CambiumError(
                .invalidInput, "A log's key cannot cosign. Make one of a witness: 'cambium witness --generate NAME --key FILE'.")
        }
        let head = try TreeHead(checkpoint: request.checkpoint)
        let (checked, _) = try store.write(Author(message: "cosign \(head.origin) \(head.size)")) { transaction in
            guard let log = try transaction.find("Log", identity: [.string(head.origin)]) else {
                throw CambiumError(.notFound, "The witness does not know the log '\(head.origin)'. Add its key with --log.")
            }
            let trust = Trust.key(try NoteKey(parsing: try transaction[log, "key"].text))
            let size = UInt64(try transaction[log, "size"].text) ?? 0
            guard request.oldSize == size else {
                throw CambiumError(
                    .conflict,
                    "The witness has cosigned \(size) transactions of the log, but the proof begins with \(request.oldSize). "
                        + "Make it with 'cambium prove STORE --consistency \(size)'.")
            }
            let root = size == 0 ? .ofEmptyTree : TreeHash(hex: try transaction[log, "root"].text)
            guard let root else {
                throw CambiumError(.corrupted, "The store of the witness has a root that is no hash. Restore it from a backup.")
            }
            let checked = try request.check(from: root, trusting: trust)
            try transaction.set(log, "size", to: .int(Int64(checked.size)))
            try transaction.set(log, "root", to: .string(checked.root.description))
            try transaction.set(log, "note", to: .string(request.checkpoint))
            return checked
        }
        return checked.signed(with: keys, seconds: UInt64(microseconds / 1_000_000))
    }
}

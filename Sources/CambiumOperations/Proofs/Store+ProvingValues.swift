package import CambiumLog
public import CambiumModel
public import CambiumProofs

extension Store {
    /// Makes a proof that a transaction has set the value that an attribute of an object has at a moment. The proof shows the piece of the
    /// transaction with the value: one op, or some rows of an import.
    ///
    /// ```swift
    /// let proof = try Store.prove("title", of: note, at: "notes")
    /// print(try ProvedValue(proof, trusting: .root(try TreeHead(parsing: proof.checkpoint).root)).value.text)
    /// ```
    ///
    /// Throws `.notFound` if there is no such object or moment, or if no single change states the value. Such a value is a default, or came
    /// with a clone or a migration, or its changes were retired. Throws `.unknownName` for an unknown attribute, `.invalidInput` for a
    /// derived one, and otherwise as `prove(_:at:in:)` does. Complexity: that of reading the graph of the moment, and of reading the log
    /// from the creation of the object if its last change has not set the value.
    ///
    /// - Parameters:
    ///   - attribute: the name of the attribute.
    ///   - object: the object.
    ///   - path: the directory of the store.
    ///   - point: the moment.
    ///   - note: a signed checkpoint of this log; `nil` for an unsigned one of the newest tree.
    public static func prove(
        _ attribute: String, of object: ObjectID, at path: String, point: Point = .latest, in note: SignedNote? = nil
    ) throws -> ProofFile {
        try prove(attribute, of: object, SystemVolume(root: path), point: point, in: note)
    }

    package static func prove(
        _ attribute: String, of object: ObjectID, _ volume: any Volume, point: Point = .latest, in note: SignedNote? = nil
    ) throws -> ProofFile {
        try LogReader.rereading(volume) { try prove(attribute, of: object, $0, point: point, in: note) }
    }

    private static func prove(
        _ attribute: String, of object: ObjectID, _ reader: LogReader, point: Point, in note: SignedNote?
    ) throws -> ProofFile {
        let graph = try ReadOnlyStore(reader.volume, point: point).graph
        guard let place = graph.place(of: object) else { throw CambiumError(.notFound, "There is no such object at this moment.") }
        let entity = graph.entity(of: place)
        let name = AttributeName(entity, try entity.requiredAttribute(attribute))
        guard entity.attribute(attribute)?.isDerived == false else {
            throw CambiumError(.invalidInput, "'\(attribute)' is derived from other values, which can be proved.")
        }
        let (value, text) = (try graph[object, attribute], graph.schema.text(of: object, entity: entity))
        func unstated() throws -> CambiumError {
            if case .redacted = try Self.record(graph.provenance(of: place).created, reader).payload {
                return CambiumError(
                    .notFound, "The changes that may have set '\(attribute)' of \(text) were retired by a compaction. \(wholeLog)")
            }
            return CambiumError(
                .notFound,
                "No single change states the value of '\(attribute)' of \(text): it is a default, or came with a clone or a migration. "
                    + "'cambium blame' names the source of a clone; prove the value of the source.")
        }
        guard let (record, piece) = try settingRecord(object, name, graph.provenance(of: place), reader), let commitment = piece.commitment
        else { throw try unstated() }
        let (schemaRecord, names, stated) = try schemaRecord(
            name, reader, upTo: record.number, isLast: graph.schemaTransaction <= record.number)
        // A migration may have changed the type since then. The proof states the value with its former type.
        guard let set = try object.value(piece.piece, stated), stated.type.converted(set.value, to: name.type) == value else {
            throw try unstated()
        }
        // The commitment to a large import takes long to compute, so it is computed once.
        var (log, checkpoint) = try tree(reader, note, commitments: [record.number: commitment])
        guard record.number.rawValue <= log.size else {
            throw CambiumError(.notFound, "Transaction \(record.number), which set the value, is later than the note. Sign again.")
        }
        let schemaProof = try log.inclusion(of: schemaRecord.number.rawValue - 1)
        let opening = ProofOpening(
            LeafOpening(envelope: record.envelope, commitment: commitment, piece: piece),
            ProofOpening.Place(
                object: "\(stated.entityName)/\(object.serial)", property: stated.name, row: UInt64(set.row), value: set.value,
                schema: LeafOpening(envelope: schemaRecord.envelope, commitment: try schemaRecord.commitment(), piece: names),
                schemaIndex: schemaProof.index, schemaPath: schemaProof.path))
        let proof = try log.inclusion(of: record.number.rawValue - 1)
        guard proof.root(of: opening.leaf.leaf) == log.root else {
            throw CambiumError(.corrupted, "Transaction \(record.number) differs from the tree over the log. Run 'cambium verify'.")
        }
        return ProofFile(extra: opening.bytes, index: proof.index, path: proof.path, checkpoint: checkpoint)
    }

    /// Returns the last transaction that states a value of an attribute, with the piece that states it: usually the transaction that last
    /// changed the object. Returns `nil` if there is none, or if its changes were retired.
    private static func settingRecord(
        _ object: ObjectID, _ name: AttributeName, _ provenance: (created: TransactionNumber, changed: TransactionNumber),
        _ reader: LogReader
    ) throws -> (LogRecord, PieceOpening)? {
        let last = try record(provenance.changed, reader)
        if case .redacted = last.payload { return nil }
        if let piece = try last.opening({ try object.isAssigned(name, by: $0) }) { return (last, piece) }
        var found: (LogRecord, PieceOpening)?
        struct Reached: Error {}
        do {
            _ = try reader.scan(from: provenance.created, makesDurable: true) { record in
                if record.number >= provenance.changed { throw Reached() }
                if case .redacted = record.payload { return }
                if record.number >= provenance.created, let piece = try record.opening({ try object.isAssigned(name, by: $0) }) {
                    found = (record, piece)
                }
            }
        } catch is Reached {}  // The later transactions were not asked for.
        return found
    }

    /// The remedy for a value whose changes were retired.
    private static let wholeLog =
        "Make a store with all changes from the archive: 'cambium restore STORE COPY --archive DIRECTORY'. Prove the value there."

    /// Returns a transaction up to `last` whose schema has the type that an attribute had at `last`: usually the first one. If there are
    /// several, prefers one with the names of `name`.
    ///
    /// - Parameter isLast: whether no transaction after `last` changed the schema, so that `name` has the type of that time.
    private static func schemaRecord(
        _ name: AttributeName, _ reader: LogReader, upTo last: TransactionNumber, isLast: Bool
    ) throws -> (LogRecord, PieceOpening, AttributeName) {
        struct End: Error {}
        func stated(in piece: PayloadPiece) throws -> AttributeName? {
            try AttributeName.all(in: piece).first { $0.isNumbered(as: name) }
        }
        var (found, isRetired): ((LogRecord, PieceOpening, AttributeName)?, Bool) = (nil, false)
        do {
            _ = try reader.scan(makesDurable: true) { record in
                if case .redacted = record.payload {
                    isRetired = true
                } else if let piece = try record.opening({ try stated(in: $0) != nil }), let own = try stated(in: piece.piece) {
                    let isOther = found.map { $0.2.type != own.type } ?? true
                    if isOther || own.entityName == name.entityName && own.name == name.name { found = (record, piece, own) }
                    if isLast, own == name { throw End() }
                }
                if record.number >= last { throw End() }
            }
        } catch is End {}  // A later schema proves nothing about an earlier transaction.
        if let found { return found }
        let names = "The schema with the names of the value"
        throw CambiumError(
            .notFound,
            isRetired ? "\(names) was retired by a compaction. \(wholeLog)" : "\(names) is later than transaction \(last), which set it.")
    }
}

extension ObjectID {
    /// Whether a piece assigns a value of any type to an attribute of this object.
    fileprivate func isAssigned(_ name: AttributeName, by piece: PayloadPiece) throws -> Bool {
        if let serials = piece.serials, !serials.contains(serial) { return false }
        var isFound = false
        try AssignedValue.forEach(in: piece) { _, assigned in
            if assigned.serial == serial, assigned.isOf(name) { isFound = true }
        }
        return isFound
    }

    /// Returns the last value of an attribute of this object that a piece assigns, with its row; `nil` if the piece assigns none.
    fileprivate func value(_ piece: PayloadPiece, _ name: AttributeName) throws -> (row: Int, value: Value)? {
        if let serials = piece.serials, !serials.contains(serial) { return nil }
        var found: (row: Int, value: Value)?
        try AssignedValue.forEach(in: piece) { row, assigned in
            if assigned.serial == serial, assigned.isOf(name), let value = assigned.value(name.type) { found = (row, value) }
        }
        return found
    }
}

extension AttributeName {
    /// Returns whether both are the same attribute, whatever its names and its type are.
    fileprivate func isNumbered(as other: AttributeName) -> Bool {
        (root, entity, property) == (other.root, other.entity, other.property)
    }
}

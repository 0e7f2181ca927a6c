internal import CambiumBytes
internal import CambiumLog
public import CambiumModel
public import CambiumProofs

/// A value that a transaction has set, as a proof shows. Its creation is the check, which needs no store.
///
/// The proof does not exclude that a later transaction has changed the value.
///
/// ```swift
/// let proof = try Store.prove("title", of: note, at: "notes")
/// let proved = try ProvedValue(proof, trusting: .root(try TreeHead(parsing: proof.checkpoint).root))
/// print(proved.object, proved.property, proved.value.text, proved.transaction.number)
/// ```
public struct ProvedValue: Sendable {
    /// The transaction that set the value.
    public let transaction: ProvedTransaction
    /// The object: the name of an entity of its hierarchy, a slash, and the number of the object.
    public let object: String
    /// The name of the attribute.
    public let property: String
    /// The value.
    public let value: Value
    /// The transaction with the schema that states the names and the type. A later transaction may have renamed them.
    public let schema: TransactionNumber

    /// Returns whether a proof states a value, and not only a transaction. Throws `.invalidInput` if it is malformed.
    public static func isStated(in proof: ProofFile) throws(CambiumError) -> Bool { try ProofOpening(proof).place != nil }

    /// Checks a proof.
    ///
    /// Throws `.notProved` if the proof does not hold, or if its tree is not accepted. Throws `.invalidInput` if it is malformed, or states
    /// no value. Complexity: O(bytes of the proof).
    ///
    /// - Parameters:
    ///   - proof: the proof. It is outside data.
    ///   - trust: the reason for which the tree is accepted.
    public init(_ proof: ProofFile, trusting trust: Trust) throws(CambiumError) {
        let opening = try ProofOpening(proof)
        guard let place = opening.place, let piece = opening.leaf.piece, let names = place.schema.piece else {
            throw LeafOpening.malformed("it states no value")
        }
        transaction = try ProvedTransaction(proof, trusting: trust)
        let head = transaction.head
        let schemaProof = InclusionProof(index: place.schemaIndex, size: head.size, path: place.schemaPath)
        guard piece.commitment == opening.leaf.commitment, names.commitment == place.schema.commitment,
            schemaProof.root(of: place.schema.leaf) == head.root, place.schemaIndex <= proof.index
        else { throw Self.refused("The changes, or the schema, do not belong to the log.") }
        guard let name = try Self.name(place, names.piece) else { throw Self.refused("The schema does not state these names.") }
        guard let value = try Self.value(place, name, piece.piece) else { throw Self.refused("The changes do not set this value.") }
        (object, property, self.value) = (place.object, place.property, value)
        schema = TransactionNumber(rawValue: place.schemaIndex + 1)
    }

    private static func refused(_ flaw: String) -> CambiumError {
        CambiumError(.notProved, "\(flaw) The proof does not hold; get it again.")
    }

    private static func name(_ place: ProofOpening.Place, _ piece: PayloadPiece) throws(CambiumError) -> AttributeName? {
        let entity = place.object.utf8.prefix { $0 != UInt8(ascii: "/") }
        do throws(DecodingError) {
            return try AttributeName.all(in: piece).first {
                $0.entityName.utf8.elementsEqual(entity) && $0.name.utf8.elementsEqual(place.property.utf8)
            }
        } catch {
            throw LeafOpening.malformed("its piece of the schema has \(error)")
        }
    }

    private static func value(
        _ place: ProofOpening.Place, _ name: AttributeName, _ piece: PayloadPiece
    ) throws(CambiumError) -> Value? {
        var found: Value?
        do throws(DecodingError) {
            try AssignedValue.forEach(in: piece) { row, assigned in
                guard UInt64(row) == place.row, assigned.isOf(name),
                    "\(name.entityName)/\(assigned.serial)".utf8.elementsEqual(place.object.utf8)
                else { return }
                found = assigned.value(name.type)
            }
        } catch {
            throw LeafOpening.malformed("its piece of the changes has \(error)")
        }
        return found
    }
}

extension AssignedValue {
    /// Whether the value is that of an attribute. Rows state the entity, changes the root entity, and insertions both.
    func isOf(_ name: AttributeName) -> Bool {
        property == name.property && (root ?? name.root) == name.root && (entity ?? name.entity) == name.entity
    }
}

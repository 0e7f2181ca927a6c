internal import CambiumBytes
internal import CambiumJSON
internal import CambiumLog
internal import CambiumModel
internal import CambiumProofs

/// The content of a leaf, as JSON in the line `extra` of a proof. Docs/Formats/PROOFS.md, "Openings".
struct TransactionOpening {
    /// Everything about the transaction except its changes.
    let envelope: [UInt8]
    /// The hash of the changes and their salt.
    let commitment: [UInt8]

    init(envelope: [UInt8], commitment: [UInt8]) { (self.envelope, self.commitment) = (envelope, commitment) }

    /// Reads an opening, which is outside data. Throws `.invalidInput` if the bytes are not an opening.
    init(_ proof: ProofFile) throws(CambiumError) {
        guard let extra = proof.extra else { throw Self.malformed("it does not state the content of the transaction") }
        let json: JSONValue
        do throws(JSONError) { json = try JSONValue(parsing: extra) } catch { throw Self.malformed(error.message) }
        envelope = try Self.bytes(json["envelope"], "envelope")
        commitment = try Self.bytes(json["commitment"], "commitment")
        guard commitment.count == TreeHash.byteCount else { throw Self.malformed("its commitment does not have 32 bytes") }
    }

    private static func bytes(_ value: JSONValue?, _ name: String) throws(CambiumError) -> [UInt8] {
        guard case .string(let text)? = value, let bytes = Base64.bytes(text.utf8) else { throw malformed("'\(name)' is not base64") }
        return bytes
    }

    static func malformed(_ flaw: String) -> CambiumError {
        CambiumError(.invalidInput, "The proof is malformed: \(flaw). Get it again from its source.")
    }

    var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("envelope")
        writer.string(Base64.text(envelope))
        writer.key("commitment")
        writer.string(Base64.text(commitment))
        writer.endObject()
        return Array(writer.text.utf8)
    }

    var leaf: TreeHash { .leaf(envelope + commitment) }
}

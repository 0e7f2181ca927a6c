internal import CambiumBytes
internal import CambiumJSON
internal import CambiumLog
import CambiumModel
internal import CambiumProofs

/// The content of a leaf, and a piece of the changes to which it commits. Docs/Formats/PROOFS.md, "Openings".
struct LeafOpening {
    /// Everything about the transaction except its changes.
    let envelope: [UInt8]
    /// The hash that commits to the changes.
    let commitment: [UInt8]
    /// A piece of the changes; `nil` if none is shown.
    let piece: PieceOpening?

    init(envelope: [UInt8], commitment: [UInt8], piece: PieceOpening? = nil) {
        (self.envelope, self.commitment, self.piece) = (envelope, commitment, piece)
    }

    var leaf: TreeHash { .leaf(envelope + commitment) }

    /// Reads the members of an object, which is outside data. Throws `.invalidInput` if a member is missing or malformed.
    init(_ json: JSONValue?) throws(CambiumError) {
        envelope = try Self.bytes(json?["envelope"], "envelope")
        commitment = try Self.bytes(json?["commitment"], "commitment", count: TreeHash.byteCount)
        guard let opening = json?["opening"] else {
            piece = nil
            return
        }
        guard let kind = try PayloadPiece.Kind(rawValue: UInt8(clamping: Self.number(opening["kind"], "kind"))) else {
            throw Self.malformed("its piece is of an unknown kind")
        }
        let proof = InclusionProof(
            index: try Self.number(opening["piece"], "piece"), size: try Self.number(opening["pieces"], "pieces"),
            path: try Self.path(opening["path"]))
        let payload = try Self.bytes(opening["payload"], "payload")
        piece = PieceOpening(PayloadPiece(kind, payload[...]), salt: try Self.bytes(opening["salt"], "salt", count: 16), proof: proof)
    }

    static func bytes(_ value: JSONValue?, _ name: String, count: Int? = nil) throws(CambiumError) -> [UInt8] {
        guard case .string(let text)? = value, let bytes = Base64.bytes(text.utf8), count == nil || bytes.count == count else {
            throw malformed("'\(name)' is not base64 of the right length")
        }
        return bytes
    }

    static func number(_ value: JSONValue?, _ name: String) throws(CambiumError) -> UInt64 {
        guard case .number(let text)? = value, let number = UInt64(text), String(number) == text else {
            throw malformed("'\(name)' is not a number")
        }
        return number
    }

    static func path(_ value: JSONValue?) throws(CambiumError) -> [TreeHash] {
        guard case .array(let elements)? = value, elements.count <= 63 else { throw malformed("'path' is not a list of hashes") }
        var path: [TreeHash] = []
        for element in elements {
            guard let hash = TreeHash(try bytes(element, "path", count: TreeHash.byteCount)) else { continue }
            path.append(hash)
        }
        return path
    }

    static func malformed(_ flaw: String) -> CambiumError {
        CambiumError(.invalidInput, "The proof is malformed: \(flaw). Get it again from its source.")
    }

    /// Writes the members of an open object.
    func write(to writer: inout JSONWriter) {
        writer.member("envelope", envelope)
        writer.member("commitment", commitment)
        guard let piece else { return }
        writer.object("opening") { writer in
            writer.member("piece", piece.proof.index)
            writer.member("pieces", piece.proof.size)
            writer.member("kind", piece.piece.kind.rawValue)
            writer.member("salt", piece.salt)
            writer.member("payload", Array(piece.piece.bytes))
            writer.member("path", piece.proof.path)
        }
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: String, _ bytes: [UInt8]) {
        member(name, Base64.text(bytes))
    }

    mutating func member(_ name: String, _ path: [TreeHash]) { member(name, path.map { Base64.text($0.bytes) }) }
}

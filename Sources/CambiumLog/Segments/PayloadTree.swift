import CambiumBytes
internal import CambiumModel
package import CambiumProofs

/// The tree over the pieces of a payload. Its root is the commitment to the payload. FORMAT.md 5.
struct PayloadTree {
    private let salt: [UInt8]
    private var tree = MerkleTree()

    init(salt: [UInt8]) { self.salt = salt }

    mutating func add(_ piece: PayloadPiece) {
        let salt = PieceOpening.saltHash(salt, tree.leafCount)
        tree.append(leafHash: PieceOpening.leaf(piece) { $0.add(salt, Format.saltByteCount) })
    }

    /// Returns the commitment.
    mutating func finish() -> TreeHash {
        // A salt hides that a payload is empty.
        if tree.leafCount == 0 { add(PayloadPiece(.op, [])) }
        return tree.root
    }
}

/// A piece of a payload with the proof that the commitment to the payload contains it. The other pieces stay hidden.
package struct PieceOpening: Sendable {
    package let piece: PayloadPiece
    package let salt: [UInt8]
    package let proof: InclusionProof

    /// - Parameters:
    ///   - salt: the salt of the piece.
    ///   - proof: the place of the piece among all pieces.
    package init(_ piece: PayloadPiece, salt: [UInt8], proof: InclusionProof) { (self.piece, self.salt, self.proof) = (piece, salt, proof) }

    /// The commitment to the payload; `nil` if the proof cannot hold.
    package var commitment: [UInt8]? {
        salt.count == Format.saltByteCount ? proof.root(of: Self.leaf(salt, piece))?.bytes : nil
    }

    fileprivate static func leaf(_ salt: [UInt8], _ piece: PayloadPiece) -> TreeHash { leaf(piece) { $0.add(salt[...]) } }

    /// - Parameter addSalt: adds the salt of the piece to a hash.
    fileprivate static func leaf(_ piece: PayloadPiece, _ addSalt: (inout ContentHash) -> Void) -> TreeHash {
        var hash = ContentHash()
        hash.add(0 as UInt8)
        addSalt(&hash)
        hash.add(piece.kind.rawValue)
        hash.add(piece.bytes)
        return hash.treeHash()
    }

    /// Returns the salt of the piece with an index.
    ///
    /// - Parameter salt: the salt of the transaction.
    fileprivate static func salt(_ salt: [UInt8], _ index: UInt64) -> [UInt8] {
        Array(saltHash(salt, index).bytes.prefix(Format.saltByteCount))
    }

    /// Returns the hash whose first bytes are the salt of the piece with an index.
    fileprivate static func saltHash(_ salt: [UInt8], _ index: UInt64) -> TreeHash {
        var hash = ContentHash()
        hash.add(salt[...])
        hash.add(index)
        return hash.treeHash()
    }
}

extension LogRecord {
    /// Returns the last piece of the payload for which `isWanted` returns `true`, with its proof; `nil` if there is no such piece.
    ///
    /// Throws as `leafHash` does, `.notFound` if the changes were retired, and the errors of `isWanted`. Complexity: O(bytes of the ops).
    package func opening(_ isWanted: (PayloadPiece) throws -> Bool) throws -> PieceOpening? {
        let salt = saltBytes
        var leaves: [TreeHash] = []
        var found: (index: Int, piece: PayloadPiece)?
        try payload.forEachPart { part in
            try PayloadPiece.forEach(in: part) { piece in
                if try isWanted(piece) { found = (leaves.count, PayloadPiece(piece.kind, Array(piece.bytes)[...])) }
                leaves.append(PieceOpening.leaf(PieceOpening.salt(salt, UInt64(leaves.count)), piece))
            }
        }
        guard let found else { return nil }
        var levels = [leaves]
        while let level = levels.last, level.count > 1 {
            levels.append((0..<level.count / 2).map { TreeHash.node(level[2 * $0], level[2 * $0 + 1]) })
        }
        let proof = InclusionProof.make(index: UInt64(found.index), size: UInt64(leaves.count)) { levels[$0.level][Int($0.index)] }
        return PieceOpening(found.piece, salt: PieceOpening.salt(salt, UInt64(found.index)), proof: proof)
    }
}

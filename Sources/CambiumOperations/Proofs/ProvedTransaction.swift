internal import CambiumLog
public import CambiumModel
public import CambiumProofs

/// A transaction that a proof shows to be in a log. Its creation is the check, which needs no store.
///
/// ```swift
/// let proof = try Store.prove(TransactionNumber(rawValue: 1), at: "notes")
/// let proved = try ProvedTransaction(proof, trusting: .root(try TreeHead(parsing: proof.checkpoint).root))
/// print(proved.number, proved.time, proved.author.actor ?? "-")
/// ```
public struct ProvedTransaction: Sendable {
    /// The number of the transaction.
    public let number: TransactionNumber
    /// The time that the log states.
    public let time: Timestamp
    /// The author, with the message and the request id.
    public let author: Author
    /// The tree that contains the transaction.
    public let head: TreeHead

    /// Checks a proof.
    ///
    /// Throws `.notProved` if the proof does not hold, or if its tree is not accepted. Throws `.invalidInput` if it is malformed.
    /// Complexity: O(bytes of the proof).
    ///
    /// - Parameters:
    ///   - proof: the proof. It is outside data.
    ///   - trust: the reason for which the tree is accepted.
    public init(_ proof: ProofFile, trusting trust: Trust) throws(CambiumError) {
        let opening = try ProofOpening(proof).leaf
        head = try proof.check(opening.leaf, trusting: trust)
        guard let (number, metadata) = TransactionMetadata.inEnvelope(opening.envelope) else {
            throw LeafOpening.malformed("its envelope is not one of a transaction")
        }
        guard number.rawValue == proof.index + 1 else {
            throw CambiumError(
                .notProved, "The leaf \(proof.index) of the tree states the number \(number). The log is corrupt; do not trust it.")
        }
        (self.number, time, author) = (number, metadata.time, Author(metadata))
    }
}

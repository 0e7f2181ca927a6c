public import CambiumModel

/// The reason for which a reader accepts the tree of a log.
///
/// ```swift
/// let trust = Trust.key(try NoteKey(parsing: "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"))
/// print(try trust.head(ofCheckpoint: note.description).size)
/// ```
public enum Trust: Sendable {
    /// The tree has this root. The origin and the signatures are not checked.
    case root(TreeHash)
    /// The log has signed the tree with this key, whose name is the origin of the log.
    case key(NoteKey)
    /// A log of the policy has signed the tree, and enough witnesses of the policy have cosigned it.
    case policy(TrustPolicy)

    /// Returns the tree of a checkpoint, which is a signed note, or only its text.
    ///
    /// Throws `.notProved` unless the tree is accepted, and `.invalidInput` if the checkpoint is malformed.
    public func head(ofCheckpoint text: String) throws(CambiumError) -> TreeHead {
        let (head, note) = try TreeHead.parts(ofCheckpoint: Array(text.utf8))
        try check(head, note)
        return head
    }

    private func check(_ head: TreeHead, _ note: SignedNote?) throws(CambiumError) {
        switch self {
        case .root(let root):
            if root == head.root { return }
            throw CambiumError(.notProved, "The tree has the root \(head.root), not \(root). Check whether the root belongs to this log.")
        case .key(let key):
            guard try Self.signed(note).verify(with: [key]).first?.nameBytes == head.originBytes else {
                throw Self.otherOrigin(head)
            }
        case .policy(let policy): try policy.check(try Self.signed(note))
        }
    }

    private static func signed(_ note: SignedNote?) throws(CambiumError) -> SignedNote {
        guard let note else {
            throw CambiumError(.notProved, "The checkpoint has no signature. Compare its root with a known one, or get a signed one.")
        }
        return note
    }

    static func otherOrigin(_ head: TreeHead) -> CambiumError {
        CambiumError(.notProved, "The checkpoint is of the log '\(head.origin)', and no given key of this name has signed it.")
    }
}

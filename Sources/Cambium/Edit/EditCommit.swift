public import CambiumModel

/// The outcome of committing an edit.
///
/// ```swift
/// let committed = try store.commit(&edit, author: Author(actor: "jane"))
/// print(committed.receipt.hasChanges, committed.id(of: item))
/// ```
public struct EditCommit: Sendable {
    /// The receipt of the transaction.
    public let receipt: Receipt
    /// The permanent ids of the inserted objects, by their provisional ids.
    package let ids: [ObjectID: ObjectID]
    /// A new edit without changes, based on the graph after the commit. It tracks reads as the committed edit did.
    public let edit: Edit

    /// Returns the permanent id of an object: the new id for a provisional id, otherwise the id itself.
    public func id(of id: ObjectID) -> ObjectID { ids[id] ?? id }
}

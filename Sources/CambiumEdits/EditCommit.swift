internal import CambiumBytes
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
    package let permanentIDs: PermanentIDs
    /// A new edit without changes, based on the graph after the commit. It tracks reads as the committed edit did.
    public let edit: Edit

    /// The permanent ids of the inserted objects, by their provisional ids.
    package var ids: [ObjectID: ObjectID] { permanentIDs.byProvisional }

    /// Returns the permanent id of an object: the new id for a provisional id, otherwise the id itself.
    public func id(of id: ObjectID) -> ObjectID { ids[id] ?? id }
}

/// The permanent ids of the objects that an edit inserted. The refs of many records share one instance.
package final class PermanentIDs: Sendable {
    package let byProvisional: [ObjectID: ObjectID]
    /// The reverse of `byProvisional`; `nil` until it is needed.
    private let provisional = Guarded<[ObjectID: ObjectID]?>(nil)

    init(_ byProvisional: [ObjectID: ObjectID]) { self.byProvisional = byProvisional }

    /// Returns the id that an object had in the edit.
    package func provisional(_ id: ObjectID) -> ObjectID {
        if byProvisional.isEmpty { return id }
        return provisional.withLock { known in
            let ids = known ?? Dictionary(byProvisional.map { ($1, $0) }) { first, _ in first }
            known = ids
            return ids[id] ?? id
        }
    }
}

import CambiumModel
import Synchronization

/// The source of the provisional ids of an edit. The edit and its copies share this object, so that two copies never give one id to
/// different objects.
final class EditNumbering: Sendable {
    /// The number that identifies the edit in its provisional ids. Numbers repeat after 2^20 edits.
    let edit: UInt64
    /// The number of objects that the edit and its copies have inserted, including those whose insertion was undone.
    private let insertCount = Atomic<UInt64>(0)

    private static let edits = Atomic<UInt64>(0)

    init() { edit = Self.edits.wrappingAdd(1, ordering: .relaxed).newValue }

    /// Returns the id of the next inserted object. Throws `.limitExceeded` if the edit and its copies have inserted too many objects.
    func nextID(_ root: EntityNumber) throws(CambiumError) -> ObjectID {
        let number = insertCount.wrappingAdd(1, ordering: .relaxed).newValue
        guard number <= ObjectID.provisionalCountMax else {
            throw CambiumError(
                .limitExceeded, "An edit and its copies insert at most \(ObjectID.provisionalCountMax) objects. Commit the edit first.")
        }
        return ObjectID(root: root, edit: edit, number: number)
    }
}

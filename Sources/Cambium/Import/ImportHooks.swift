public import CambiumJSON
public import CambiumModel

/// The changes that a program makes to rows during an import.
///
/// Rows can be read and applied more than once until their transaction is committed. So a hook must do the same each time, and must not
/// change anything outside of the transaction. If a hook throws, the row cannot be imported.
///
/// ```swift
/// let hooks = ImportHooks(finish: { transaction, id, row in try transaction.set(id, "source", to: .string("feed")) })
/// ```
public struct ImportHooks: Sendable {
    /// Changes a row before the import reads it.
    public typealias Prepare = @Sendable (inout JSONValue) throws -> Void
    /// Receives an applied row and its object, and may change the transaction, but cannot delete objects.
    public typealias Finish = @Sendable (inout WriteTransaction, ObjectID, JSONValue) throws -> Void

    package var prepare: Prepare?
    /// The hook that runs after a row is applied. It does not run for an object that `existing: .skip` leaves unchanged.
    package var finish: Finish?
    /// The entity whose rows are prepared; `nil` for the rows of any entity.
    var preparedEntity: String?

    /// Creates hooks. `nil` means no hook.
    public init(prepare: Prepare? = nil, finish: Finish? = nil) {
        self.prepare = prepare
        self.finish = finish
    }

    /// Returns the hook that prepares the rows of an import, or `nil` if these rows are not prepared.
    ///
    /// - Parameter entity: The entity of the import.
    func prepare(_ entity: Entity, _ schema: Schema) -> Prepare? {
        guard let name = preparedEntity else { return prepare }
        return schema.entity(name)?.family.contains(entity.number) == true ? prepare : nil
    }
}

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
    typealias Prepare = @Sendable (inout JSONValue) throws -> Void
    typealias Finish = @Sendable (inout WriteTransaction, ObjectID, JSONValue) throws -> Void

    var prepare: Prepare?
    /// The hook that runs after a row is applied. It does not run for an object that `existing: .skip` leaves unchanged.
    var finish: Finish?
    /// The entity whose rows are prepared; `nil` for the rows of any entity.
    package var preparedEntity: String?

    /// Creates hooks. `nil` means no hook.
    ///
    /// - Parameters:
    ///   - prepare: Changes a row before the import reads it.
    ///   - finish: Receives an applied row and its object, and may change the transaction, but cannot delete objects. It may supply
    ///     mandatory values that the row lacks.
    public init(
        prepare: (@Sendable (inout JSONValue) throws -> Void)? = nil,
        finish: (@Sendable (inout WriteTransaction, ObjectID, JSONValue) throws -> Void)? = nil
    ) {
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

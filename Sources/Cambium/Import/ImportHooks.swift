public import CambiumJSON
public import CambiumModel

/// What a program does to rows on their way.
///
/// Rows can be read and applied more than once until their transaction is committed, so hooks do the same each time, and nothing
/// outside of the transaction. What they throw makes the row a bad one.
///
///     let hooks = ImportHooks(finish: { transaction, id, row in try transaction.set(id, "source", to: .string("feed")) })
public struct ImportHooks: Sendable {
    /// Changes a row before anything of it is looked at.
    public typealias Prepare = @Sendable (inout JSONValue) throws -> Void
    /// Gets a row that was applied and its object, and may change the transaction; it cannot delete.
    public typealias Finish = @Sendable (inout WriteTransaction, ObjectID, JSONValue) throws -> Void

    public var prepare: Prepare?
    /// Not called for an object that `existing: .skip` left alone.
    public var finish: Finish?

    public init(prepare: Prepare? = nil, finish: Finish? = nil) {
        self.prepare = prepare
        self.finish = finish
    }
}

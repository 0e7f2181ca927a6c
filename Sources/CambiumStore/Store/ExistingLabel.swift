/// The behavior of `Store.label` if another moment already has the name.
///
/// ```swift
/// try store.label("approved", existing: .move, author: Author(actor: "jane"))
/// ```
public enum ExistingLabel: Sendable, Hashable {
    /// The call throws `.ruleViolated`.
    case refuse
    /// The label moves to the moment that the call names.
    case move
}

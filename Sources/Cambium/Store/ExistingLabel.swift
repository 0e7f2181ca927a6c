/// The behavior of `Store.label` if another moment already has the name.
///
/// ```swift
/// try store.label("approved", existing: .move, author: Author(actor: "jane"))
/// ```
public enum ExistingLabel: Sendable, Hashable {
    /// The call throws `.ruleViolated`.
    case refuse
    /// The label moves from its present moment to the moment that the call names.
    case move
}

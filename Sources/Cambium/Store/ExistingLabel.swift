/// The behavior of `Store.label` if another moment already has the name.
public enum ExistingLabel: Sendable, Hashable {
    /// The call throws `.ruleViolated`.
    case refuse
    /// The name moves to the other moment.
    case move
}

/// The behavior of `Store.label` if another moment already has the name.
public enum ExistingLabel: Sendable, Hashable {
    /// The call throws `.ruleViolated`.
    case refuse
    /// The label moves from its present moment to the moment that the call names.
    case move
}

/// The limits that make an object a hub. For a hub, only the members that the draft touched are compared with those before the change. For
/// any other object, all members are compared.
package struct HubLimits: Sendable {
    /// The minimum number of members of a hub: the number before the change plus the number after it.
    package var memberCountMin = 64
    /// The minimum ratio between the members of a hub and its touched members.
    package var memberRatio = 8
    /// The maximum ratio between the members in the block of a hub and its touched members. If the block would be larger, single ops state
    /// the new order instead.
    package var suffixRatio = 16

    package init() {}
}

/// The limits that make an object a hub. For a hub, only the members that the draft touched are compared with those before the change. For
/// any other object, all members are compared.
package struct HubLimits: Sendable {
    /// The minimum number of members of a hub: the number before the change plus the number after it.
    package var memberCountMin = 64
    /// The minimum ratio between the members of a hub and its touched members.
    package var memberRatio = 8
    /// The maximum number of members that follow the first change in a hub, divided by the number of touched members. If more members
    /// follow, single ops state the new order, instead of a block. Each member is counted in the old list and in the new list.
    package var suffixRatio = 16

    package init() {}
}

/// The limits that make an object a hub: an object with many members, only a few of which the draft touched. The ops for a hub are derived
/// from the touched members only. For any other object, all old members are compared with all new members.
package struct HubLimits: Sendable {
    /// An object with fewer members is not a hub, an object with many members. The members before the change and the members after the
    /// change are added together.
    package var memberCountMin = 64
    /// An object is a hub only if it has at least this many members for each touched member.
    package var memberRatio = 8
    /// The maximum ratio of the members after the first changed position in a hub (an object with many members) to the touched members. If
    /// more members follow, single ops state the new order, instead of a block. Each member is counted in the old list and in the new list.
    package var suffixRatio = 16

    package init() {}
}

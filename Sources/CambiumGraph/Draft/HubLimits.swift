/// The limits that make an object a hub: an object with many members, only a few of which the draft touched. The ops for a hub are derived
/// from the touched members only. For any other object, all old members are compared with all new members.
package struct HubLimits: Sendable {
    /// An object with fewer members is not treated as a hub. The members before the change and the members after the change are added
    /// together.
    package var memberCountMin = 64
    /// An object is a hub only if it has at least this many members for each touched member.
    package var memberRatio = 8
    /// A block states the new order of a hub (an object with many members): it lists all members after the first changed position. If there
    /// are more than `suffixRatio` of these members for each touched member, single ops state the order instead. A member counts twice if
    /// it is in both the old and the new list.
    package var suffixRatio = 16
    /// The maximum number of members in one list of a block, of any object.
    package var blockMemberCountMax = LinkBlockBuilder.memberCountMax

    package init() {}
}

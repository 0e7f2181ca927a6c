/// The limits that make an object a hub: an object with many members, only a few of which the draft touched. The ops for a hub are derived
/// from the touched members only. For any other object, all old members are compared with all new members.
package struct HubLimits: Sendable {
    /// The minimum number of members of a hub: the number before the change plus the number after the change.
    package var memberCountMin = 64
    /// An object is a hub only if it has at least this many members for each touched member.
    package var memberRatio = 8
    /// A block states the new order of a hub by listing the new members from the first changed position on. The block is used only if the
    /// old and new orders together have at most `suffixRatio` members from this position on for each touched member. Otherwise, single ops
    /// state the order.
    package var suffixRatio = 16
    /// The maximum number of members in one list of a block. This maximum applies to hubs and to all other objects.
    package var blockMemberCountMax = LinkBlockBuilder.memberCountMax

    package init() {}
}

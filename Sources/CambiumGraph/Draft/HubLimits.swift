/// The limits that make an object a hub. The changes of a hub's members are found edge by edge, instead of by a comparison of all its
/// members.
package struct HubLimits: Sendable {
    /// The minimum number of members of a hub: the number before the change plus the number after it.
    package var memberCountMin = 64
    /// The minimum number of members of a hub for each touched member.
    package var memberRatio = 8
    /// The maximum number of members in a block, for each touched member of a hub. If the block would be larger, the order is emitted as
    /// single ops.
    package var suffixRatio = 16

    package init() {}
}

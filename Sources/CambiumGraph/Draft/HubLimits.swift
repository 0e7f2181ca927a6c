/// The limits that make an object a hub. The changes of its members are found edge by edge, not by comparing all of its members.
package struct HubLimits: Sendable {
    /// The minimum number of members of a hub: the sum of the numbers before and after the change.
    package var memberCountMin = 64
    /// The minimum number of members of a hub for each touched member.
    package var memberRatio = 8
    /// The maximum number of members in a block for each touched member of a hub. If its block would be larger, the order is emitted as
    /// single ops.
    package var suffixRatio = 16

    package init() {}
}

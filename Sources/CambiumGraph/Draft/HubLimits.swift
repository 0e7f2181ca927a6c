/// The limits that make an object a hub. If an object is a hub, its changed members are found from the edges that were touched. Otherwise
/// all of its members are compared.
package struct HubLimits: Sendable {
    /// The minimum number of members of a hub: the number before the change plus the number after it.
    package var memberCountMin = 64
    /// The minimum number of members of a hub for each touched member.
    package var memberRatio = 8
    /// The maximum number of members in a block of a hub, for each touched member. Instead of a larger block, single ops state the new
    /// order.
    package var suffixRatio = 16

    package init() {}
}

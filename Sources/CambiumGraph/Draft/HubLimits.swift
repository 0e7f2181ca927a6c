/// When the changes of an object's members are found edge by edge, and not by comparing all of its members.
package struct HubLimits: Sendable {
    /// An object with fewer members, before and after together, is no hub.
    package var memberCountMin = 64
    /// A hub has so many members for each one that was touched.
    package var memberRatio = 8
    /// The order of a hub is told op by op if its block would name so many members for each one that was touched.
    package var suffixRatio = 16

    package init() {}
}

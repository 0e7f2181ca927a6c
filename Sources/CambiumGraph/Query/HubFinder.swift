/// Finds the hub of an object on a path. The path must begin with to-one relationships, which lead to the hub; a to-many relationship
/// follows there. In `owner.items.price`, the owner is the hub. All objects with the same hub have the same values at the end of the path.
struct HubFinder {
    private let context: QueryContext
    /// The to-one steps from an object to its hub.
    private let steps: [LinkStep]
    /// The to-many step that begins at the hub.
    private let last: LinkStep
    private let memberCountMin: Int

    /// The minimum number of members of a hub. With fewer members, reading their values costs no more than finding prepared values. The
    /// number is small in tests with small pages.
    private static let standardMemberCountMin = PageLayout.fanOut < 128 ? 2 : 16

    /// Returns `nil` if objects do not share hubs on the path `links`.
    init?(_ links: [LinkStep], _ context: QueryContext) {
        guard let depth = links.firstIndex(where: \.isToMany), depth > 0 else { return nil }
        self.context = context
        steps = Array(links[..<depth])
        last = links[depth]
        // If the path leads over further to-many relationships, each of few members may lead to very many objects.
        memberCountMin = links[(depth + 1)...].contains(where: \.isToMany) ? 1 : Self.standardMemberCountMin
    }

    /// Returns the hub of an object. Returns `nil` if there is no hub, or if the hub has so few members that sharing their values saves
    /// nothing.
    func hub(of row: UInt32) -> UInt32? {
        var hub = row
        for step in steps {
            guard let slot = step.linkSlot else { return nil }
            hub = context.reader.rows(step.ownerTable.index).link(hub, slot)
            if hub == noRow { return nil }
        }
        return memberCount(of: hub) < memberCountMin ? nil : hub
    }

    func memberCount(of hub: UInt32) -> Int { context.reader.memberCount(last.end, owner: hub) }
}

import CambiumModel

/// The rules of a clone for each concrete entity, and the relationships that the clone follows to find objects.
struct CloneMembers {
    /// An attribute that takes its value from an ancestor: the parent in the walk, the parent's parent, and so on.
    struct Follower {
        let attribute: Attribute
        let follow: CloneAttributeRule.Follow
    }

    struct Member {
        let entity: Entity
        let followers: [Follower]
        let policy: ClonePolicy.Member
    }

    private let byEntity: [Member?]
    let branches: CloneBranches
    /// Whether the walk must keep the order in which it reaches objects, because some attribute takes its value from a parent.
    let needsOrder: Bool
    let policy: ClonePolicy

    init(_ layout: GraphLayout, _ policy: ClonePolicy) {
        self.policy = policy
        var found: [Member?] = []
        var all = CloneBranches()
        for entity in layout.schema.entities {
            guard let member = policy[entity.number] else { continue }
            let number = Int(entity.number.rawValue)
            while found.count <= number { found.append(nil) }
            func branches(_ rule: (ClonePolicy.Branch) -> CloneRule) -> [CloneBranch] {
                member.branches.filter { rule($0) == .copy }.map { CloneBranch($0.relationship, layout) }
            }
            let followers = member.attributes.compactMap { attribute, rule in
                rule.follow.map { Follower(attribute: attribute, follow: $0) }
            }
            all.add(entity.number, branches(\.rule), atRoot: branches(\.rootRule))
            found[number] = Member(entity: entity, followers: followers, policy: member)
        }
        byEntity = found
        branches = all
        needsOrder = found.contains { $0?.followers.isEmpty == false }
    }

    /// The rules for a concrete entity of the schema.
    @inline(__always) subscript(_ entity: EntityNumber) -> Member {
        guard Int(entity.rawValue) < byEntity.count, let member = byEntity[Int(entity.rawValue)] else {
            preconditionFailure("A row must have a concrete entity of its schema.")
        }
        return member
    }

    func has(_ entity: EntityNumber) -> Bool { Int(entity.rawValue) < byEntity.count && byEntity[Int(entity.rawValue)] != nil }

    var all: some Sequence<Member> { byEntity.lazy.compactMap { $0 } }
}

/// The rules of every clone whose request adds no rules. The schema alone determines these rules, so the layout of a graph creates them
/// only once and keeps them.
final class KnownCloneMembers: Sendable {
    let members: CloneMembers

    init(_ members: CloneMembers) { self.members = members }
}

/// A relationship that a clone follows to find objects. This type contains no references, so a walk through millions of objects changes no
/// reference count.
struct CloneBranch {
    enum Shape {
        /// A column of the owner contains the row of the related object.
        case one(slot: Int)
        /// A column of the owner contains the row of the first member. A column of the members contains the row of the next member.
        case chain(first: Int, next: Int)
        case other
    }

    let shape: Shape
    let link: Int
    let end: Int
    let targetTable: Int
    let isOrdered: Bool

    init(_ relationship: Relationship, _ layout: GraphLayout) {
        link = relationship.link
        end = relationship.end
        targetTable = layout.tableIndex(ofKnown: relationship.destinationRoot)
        isOrdered = relationship.isOrdered
        switch layout.end(relationship).layout {
        case .pair(_, let slots): shape = .one(slot: slots[relationship.end])
        case .list(let list, let childEnd) where relationship.end == childEnd: shape = .one(slot: list.ownerSlot)
        case .list(let list, _):
            if case .chain(let first, _, _, _, let next) = list.shape {
                shape = .chain(first: first, next: next)
            } else {
                shape = .other
            }
        case .edges: shape = .other
        }
    }
}

/// The branches of all concrete entities, grouped by entity. A branch is a relationship that a clone follows to find objects.
struct CloneBranches {
    private var all: [CloneBranch] = []
    private var ranges: [Range<Int>] = []
    private var rootRanges: [Range<Int>] = []

    mutating func add(_ entity: EntityNumber, _ branches: [CloneBranch], atRoot rootBranches: [CloneBranch]) {
        let number = Int(entity.rawValue)
        while ranges.count <= number {
            ranges.append(0..<0)
            rootRanges.append(0..<0)
        }
        ranges[number] = all.count..<all.count + branches.count
        all += branches
        rootRanges[number] = all.count..<all.count + rootBranches.count
        all += rootBranches
    }

    @inline(__always) func range(_ entity: EntityNumber, isRoot: Bool) -> Range<Int> {
        // A corrupt row may state an entity that does not exist. The walk follows no relationship from such a row. The planner refuses the
        // row later, when it counts the rows.
        guard Int(entity.rawValue) < ranges.count else { return 0..<0 }
        return isRoot ? rootRanges[Int(entity.rawValue)] : ranges[Int(entity.rawValue)]
    }

    @inline(__always) subscript(_ place: Int) -> CloneBranch { all[place] }

    var count: Int { all.count }
}

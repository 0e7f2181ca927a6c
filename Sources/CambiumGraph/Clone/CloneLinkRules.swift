import CambiumModel

/// Decides for each link between originals whether their copies are linked. The decision depends on the rules of both sides of the link.
struct CloneLinkRules {
    private let schema: Schema
    private let members: CloneMembers
    private let roots: Set<ObjectPlace>
    /// The rule of each end of each link. An end has several rules if the rules differ between concrete entities, or between the roots of
    /// the clone and other objects.
    private let rules: [Stance]

    private enum Stance {
        /// This end of the link has no relationship in the schema, and therefore no rule.
        case none
        case rule(CloneRule)
        case several
    }

    init(_ layout: GraphLayout, _ plan: borrowing ClonePlan) {
        schema = layout.schema
        members = plan.members
        roots = Set(plan.roots)
        var found = [Stance?](repeating: nil, count: 2 * layout.links.count)
        for member in plan.members.all {
            for branch in member.policy.branches {
                let end = layout.end(branch.relationship)
                let isSymmetric = layout.schema.links[end.link].isSymmetric
                for side in isSymmetric ? [0, 1] : [end.end] {
                    found[2 * end.link + side] = Self.joined(found[2 * end.link + side], branch)
                }
            }
        }
        rules = found.map { $0 ?? .none }
    }

    private static func joined(_ known: Stance?, _ branch: ClonePolicy.Branch) -> Stance {
        guard branch.rule == branch.rootRule else { return .several }
        switch known {
        case nil: return .rule(branch.rule)
        case .rule(let rule) where rule == branch.rule: return .rule(rule)
        default: return .several
        }
    }

    /// Returns the rule of an object's side of a link, or `nil` if this side has no relationship in the schema.
    @inline(__always)
    func rule(_ end: EndLayout, _ table: TableLayout, _ row: UInt32, _ reader: Reader) -> CloneRule? {
        switch rules[2 &* end.link &+ end.end] {
        case .none: nil
        case .rule(let rule): rule
        case .several: ownRule(end, table, row, reader)
        }
    }

    private func ownRule(_ end: EndLayout, _ table: TableLayout, _ row: UInt32, _ reader: Reader) -> CloneRule? {
        let link = schema.links[end.link]
        guard let property = (end.end == 0 ? link.first : link.second).property else { return nil }
        let member = members[reader.rows(table.index).entity(row, table)]
        return member.policy.rule(of: property, isRoot: roots.contains(ObjectPlace(table: table.index, row: row)))
    }

    /// Returns whether `rule` is the rule of all objects at `end`, including the roots of the clone.
    func isAlways(_ rule: CloneRule, _ end: EndLayout) -> Bool {
        if case .rule(rule) = rules[2 * end.link + end.end] { true } else { false }
    }

    /// Returns whether the copies of any two linked objects are linked. Returns `nil` if that depends on the objects.
    func keepsAll(_ link: Int) -> Bool? {
        switch (rules[2 * link], rules[2 * link + 1]) {
        case (.several, _), (_, .several): nil
        case (.rule(let first), .rule(let second)): Self.keeps(first, second)
        case (.rule(let rule), .none), (.none, .rule(let rule)): Self.keeps(rule, nil)
        case (.none, .none): true
        }
    }

    /// Returns whether the copies of two linked objects with these rules are linked.
    @inline(__always) static func keeps(_ first: CloneRule?, _ second: CloneRule?) -> Bool {
        first == .copy || second == .copy || first != .skip && second != .skip
    }
}

import CambiumModel

/// Checks that throw if a clone cannot be carried out.
extension ClonePlanner {
    /// Throws `.ruleViolated` if copies would have the same values as their originals in all attributes of a unique set.
    func checkUnique(
        _ present: [CloneMembers.Member], _ hierarchies: [CloneOp.Hierarchy], _ roots: [ObjectPlace], _ rows: [CloneRows],
        _ options: CloneOptions
    ) throws(CambiumError) {
        var repeated: [String] = []
        var shareable: [String] = []
        let rootCounts = rootCounts(roots)
        let counts = Dictionary(uniqueKeysWithValues: hierarchies.flatMap(\.counts).map { ($0.entity, $0.count) })
        for member in present where !member.entity.uniqueSets.isEmpty {
            let rules = Dictionary(uniqueKeysWithValues: member.policy.attributes.map { ($0.attribute.number, $0.rule) })
            let (rootCount, count) = (rootCounts[member.entity.number] ?? 0, counts[member.entity.number] ?? 0)
            // A copy differs from its original if its owner is copied too, so the copies' own relationships decide. The commit checks them.
            for set in member.entity.uniqueSets where !member.entity.hasRelationship(in: set) {
                let isRenewed = set.properties.contains { property in
                    let rule = rules[property] ?? .plain
                    return rule.source != .original || rule.follow != nil
                }
                let isRenewedInRoots = set.properties.contains { property in
                    options.rootValues.contains { $0.root == member.entity.root && $0.attribute == property }
                }
                if isRenewed || isRenewedInRoots && rootCount == count { continue }
                // A root is always copied. Any other object could be shared instead: its owner and the copy of its owner would both refer
                // to it.
                let paths = rootCount < count ? self.paths(to: member.entity, present, roots, rows) : []
                shareable += paths.filter { $0.canShare && !shareable.contains($0.name) }.map(\.name)
                let names = member.entity.names(of: set).joined(separator: ", ")
                let kind = set.isIdentity ? "the identity" : "the unique set"
                let others = isRenewedInRoots ? ", in the copies of objects that the request does not name" : ""
                let through = paths.isEmpty ? "" : "; copied through \(paths.map { "'\($0.name)'" }.joined(separator: ", "))"
                repeated.append("'\(member.entity.name)': \(kind) (\(names)) would equal that of the original" + others + through)
            }
        }
        guard repeated.isEmpty else {
            let words = "'\(options.keys.rebuild)', '\(options.keys.exclude)' or '\(options.keys.followParent)'"
            let sharing =
                " To share objects instead, give \(shareable.map { "'\($0)'" }.joined(separator: ", ")) the rule share: .clone(.share) in "
                + "the schema, or --share \(shareable.joined(separator: ",")) on the command line."
            throw CambiumError(
                .ruleViolated,
                "The clone would repeat unique values. Give one attribute of each set below a new value, or set \(words) in its userInfo."
                    + (shareable.isEmpty ? "" : sharing),
                details: repeated)
        }
    }

    /// A relationship through which a clone has reached objects of an entity.
    private struct Path {
        let name: String
        /// Whether the relationship may have the rule share, because its inverse is to-many, or because it has no inverse.
        let canShare: Bool
    }

    /// Returns the relationships of copied objects that lead to objects of an entity and have the rule copy. Complexity: O(copied objects
    /// and their members).
    private func paths(
        to entity: Entity, _ present: [CloneMembers.Member], _ roots: [ObjectPlace], _ rows: [CloneRows]
    ) -> [Path] {
        let roots = Set(roots)
        var paths: [Path] = []
        for member in present {
            for branch in member.policy.branches where branch.relationship.destinationRoot == entity.root {
                if branch.rule != .copy, branch.rootRule != .copy { continue }
                let isFollowed = hasCopied(layout.tableIndex(ofKnown: member.entity.root), rows) { owner in
                    let place = ObjectPlace(table: layout.tableIndex(ofKnown: member.entity.root), row: owner)
                    guard self.entity(at: place) === member.entity else { return false }
                    return (roots.contains(place) ? branch.rootRule : branch.rule) == .copy && leads(branch, from: owner, to: entity)
                }
                let end = branch.relationship
                let link = layout.schema.links[end.link]
                let inverse = end.end == 0 && !link.isSymmetric ? link.second : link.first
                let name = "\(member.entity.name).\(end.name)"
                if isFollowed { paths.append(Path(name: name, canShare: inverse.property == nil || inverse.isToMany)) }
            }
        }
        return paths
    }

    /// Whether any copied row of a table satisfies a condition.
    private func hasCopied(_ table: Int, _ rows: [CloneRows], where condition: (UInt32) -> Bool) -> Bool {
        for page in rows[table].pages {
            var bits = page.bits
            while bits != 0 {
                if condition(page.group << PageLayout.rowShift | UInt32(bits.trailingZeroBitCount)) { return true }
                bits &= bits - 1
            }
        }
        return false
    }

    private func leads(_ branch: ClonePolicy.Branch, from owner: UInt32, to entity: Entity) -> Bool {
        let table = layout.tableIndex(ofKnown: entity.root)
        var isFound = false
        reader.forEachMember(layout.end(branch.relationship), owner: owner) { row in
            if !isFound, self.entity(at: ObjectPlace(table: table, row: row)) === entity { isFound = true }
        }
        return isFound
    }

    private func rootCounts(_ roots: [ObjectPlace]) -> [EntityNumber: Int] {
        var counts: [EntityNumber: Int] = [:]
        for root in roots { counts[entity(at: root).number, default: 0] += 1 }
        return counts
    }

    /// Returns the attributes that get a new UUID, or the time of the clone, and that restrict their values by rules. Omits attributes that
    /// take their values from ancestors, and attributes that the request sets in all copies.
    func createdValues(
        _ present: [CloneMembers.Member], _ hierarchies: [CloneOp.Hierarchy], _ roots: [ObjectPlace], _ options: CloneOptions
    ) -> [ClonePlan.CreatedValue] {
        let rootCounts = rootCounts(roots)
        let counts = Dictionary(uniqueKeysWithValues: hierarchies.flatMap(\.counts).map { ($0.entity, $0.count) })
        return present.flatMap { member in
            let areAllRoots = rootCounts[member.entity.number] == counts[member.entity.number]
            return member.policy.attributes.filter { attribute, rule in
                (rule.source == .newUUID || rule.source == .now) && rule.follow == nil && !attribute.constraints.isEmpty
                    && !(areAllRoots && isGiven(attribute, options))
            }.map { ClonePlan.CreatedValue(entity: member.entity, attribute: $0.attribute) }
        }
    }

    /// Checks the attributes with `followParent`, which take their values from ancestors. Throws `.ruleViolated` if a copy lacks the
    /// ancestor and the attribute has no fallback. Also throws `.ruleViolated` if the attribute does not allow the value of the ancestor.
    ///
    /// - Returns: The checked attributes that restrict their values by rules, and that get a value that the clone creates, such as a new
    ///   UUID.
    func checkFollowers(
        _ entries: [CloneWalk.Entry], _ members: CloneMembers, _ options: CloneOptions
    ) throws(CambiumError) -> [ClonePlan.CreatedValue] {
        var known: [CopiedAttribute: Value?] = [:]
        var created: [ClonePlan.CreatedValue] = []
        for (index, entry) in entries.enumerated() {
            let entity = member(Int(entry.table), entry.row)
            for follower in members[entity.number].followers {
                if entry.parent == CloneWalk.noParent, isGiven(follower.attribute, options) { continue }
                let isFollowed = followed(follower, index, entries) != nil
                if isFollowed || follower.follow.fallback != .fail {
                    let isCreated = try isCreated(follower, isFollowed: isFollowed, index, entries, members, options, &known)
                    if isCreated, !created.contains(where: { $0.attribute === follower.attribute }) {
                        created.append(ClonePlan.CreatedValue(entity: entity, attribute: follower.attribute))
                    }
                    continue
                }
                let id = ObjectID(root: entity.root, serial: reader.rows(Int(entry.table)).serial(entry.row))
                let path = [String](repeating: "^", count: follower.follow.levelCount) + [follower.follow.name]
                // The request can only give values to roots.
                let isRoot = entry.parent == CloneWalk.noParent
                let remedy = isRoot ? "Give it a value in the request (--set on the command line), or set" : "Set"
                throw CambiumError(
                    .ruleViolated,
                    "\(layout.schema.text(of: id, entity: entity)): '\(follower.attribute.name)' takes the value of "
                        + "'\(path.joined(separator: "."))', but the clone did not reach the object through an object with that attribute. "
                        + "\(remedy) '\(options.keys.withoutParent)' to 'keep' or 'blank' in the userInfo of '\(follower.attribute.name)'.")
            }
        }
        return created
    }

    /// Returns whether the clone creates the value of an attribute that restricts its values by rules. Such a value must be checked later.
    /// Throws `.ruleViolated` if the attribute does not allow the value that the copy takes from an ancestor.
    private func isCreated(
        _ follower: CloneMembers.Follower, isFollowed: Bool, _ index: Int, _ entries: [CloneWalk.Entry], _ members: CloneMembers,
        _ options: CloneOptions, _ known: inout [CopiedAttribute: Value?]
    ) throws(CambiumError) -> Bool {
        guard !follower.attribute.constraints.isEmpty else { return false }
        guard let value = value(of: follower.attribute, index, entries, members, options, &known) else { return true }
        guard isFollowed, let violation = follower.attribute.constraints.check(value) else { return false }
        let entry = entries[index]
        let entity = member(Int(entry.table), entry.row)
        let id = ObjectID(root: entity.root, serial: reader.rows(Int(entry.table)).serial(entry.row))
        throw CambiumError(
            .ruleViolated,
            "\(layout.schema.text(of: id, entity: entity)): its copy would take a value from an ancestor for '\(follower.attribute.name)', "
                + "which \(violation). Change that value, or '\(options.keys.followParent)' in the userInfo of the attribute.")
    }

    /// Returns the value that the attribute of a copy gets, or `nil` if the clone creates this value, such as a new UUID.
    ///
    /// - Parameter known: The values that earlier calls found. Without these values, the call for each object of a long chain of parents
    ///   would follow the chain to its beginning.
    private func value(
        of attribute: Attribute, _ index: Int, _ entries: [CloneWalk.Entry], _ members: CloneMembers, _ options: CloneOptions,
        _ known: inout [CopiedAttribute: Value?]
    ) -> Value? {
        var (index, attribute) = (index, attribute)
        var passed: [CopiedAttribute] = []
        while true {
            let place = CopiedAttribute(index: index, attribute: attribute.number)
            passed.append(place)
            let value: Value?
            if let found = known[place] {
                value = found
            } else {
                switch origin(of: attribute, index, entries, members, options) {
                case .value(let found): value = found
                case .above(let above, let other):
                    (index, attribute) = (above, other)
                    continue
                }
            }
            for place in passed { known.updateValue(value, forKey: place) }
            return value
        }
    }

    /// An attribute of a copy. `index` is the index of the original in the entries of the walk.
    private struct CopiedAttribute: Hashable {
        let index: Int
        let attribute: PropertyNumber
    }

    /// The origin of an attribute's value in a copy: a known value (`nil` if the clone creates the value), or the attribute of an ancestor.
    private enum Origin {
        /// The value itself; `nil` if the clone creates it.
        case value(Value?)
        /// The value is taken from an ancestor: the index of the ancestor's entry in the walk, and the ancestor's attribute.
        case above(Int, Attribute)
    }

    private func origin(
        of attribute: Attribute, _ index: Int, _ entries: [CloneWalk.Entry], _ members: CloneMembers, _ options: CloneOptions
    ) -> Origin {
        let entry = entries[index]
        let entity = member(Int(entry.table), entry.row)
        if entry.parent == CloneWalk.noParent,
            let given = options.rootValues.first(where: { $0.root == attribute.root && $0.attribute == attribute.number })
        {
            return .value(given.value)
        }
        let follower = members[entity.number].followers.first { $0.attribute.number == attribute.number }
        if let follower, let (above, other) = followedIndex(follower, index, entries) { return .above(above, other) }
        if follower?.follow.fallback == .blank { return .value(attribute.defaultValue) }
        let rule = members[entity.number].policy.attributes.first { $0.attribute.number == attribute.number }?.rule
        switch rule?.source {
        case .newUUID, .now: return .value(nil)
        case .defaultValue: return .value(attribute.defaultValue)
        default: return .value(reader.value(of: layout.field(attribute), at: ObjectPlace(table: Int(entry.table), row: entry.row)))
        }
    }

    private func isGiven(_ attribute: Attribute, _ options: CloneOptions) -> Bool {
        options.rootValues.contains { $0.root == attribute.root && $0.attribute == attribute.number }
    }

    /// Returns the ancestor from which a value is taken, and the ancestor's attribute. Returns `nil` if there is no such ancestor or
    /// attribute.
    func followed(
        _ follower: CloneMembers.Follower, _ index: Int, _ entries: [CloneWalk.Entry]
    ) -> (place: ObjectPlace, attribute: Attribute)? {
        followedIndex(follower, index, entries).map { above, attribute in
            (ObjectPlace(table: Int(entries[above].table), row: entries[above].row), attribute)
        }
    }

    private func followedIndex(
        _ follower: CloneMembers.Follower, _ index: Int, _ entries: [CloneWalk.Entry]
    ) -> (index: Int, attribute: Attribute)? {
        var index = index
        for _ in 0..<follower.follow.levelCount {
            guard entries[index].parent != CloneWalk.noParent else { return nil }
            index = Int(entries[index].parent)
        }
        let entity = member(Int(entries[index].table), entries[index].row)
        guard let attribute = entity.attribute(follower.follow.name), attribute.type == follower.attribute.type, !attribute.isDerived
        else { return nil }
        return (index, attribute)
    }
}

/// The rule by which a clone determines the value of an attribute in a copy.
package struct CloneAttributeRule: Hashable, Sendable {
    package enum Source: Hashable, Sendable { case original, defaultValue, newUUID, now }

    /// The rule `followParent`: an attribute of a copy takes its value from the copy of the parent, or from the copy of an object above the
    /// parent. The parent is the object through which the clone reached the original.
    package struct Follow: Hashable, Sendable {
        /// The number of levels to go up; 1 is the parent.
        package let levelCount: Int
        package let name: String
        package let fallback: Fallback
    }

    /// The value that the copy gets if the object above, or the value of that object, is missing.
    package enum Fallback: Hashable, Sendable { case keep, blank, fail }

    package let source: Source
    package let follow: Follow?

    /// The rule that copies the value unchanged.
    package static let plain = CloneAttributeRule(source: .original, follow: nil)

    /// The rule that leaves a derived attribute without a value until the store computes the value at the end of the transaction.
    package static let computed = CloneAttributeRule(source: .defaultValue, follow: nil)

    init(source: Source, follow: Follow?) {
        self.source = source
        self.follow = follow
    }

    /// Reads the rule from `userInfo`.
    ///
    /// - Parameters:
    ///   - mayBeMissing: Whether the attribute is optional or has a default.
    ///   - mistake: A closure that receives the key and a sentence for each mistake.
    package init(
        _ userInfo: [String: String], _ keys: CloneKeys, type: AttributeType, mayBeMissing: Bool,
        mistake: (_ key: String, _ message: String) -> Void
    ) {
        if userInfo.isEmpty {
            self = .plain
            return
        }
        let isExcluded = userInfo[keys.exclude] != nil
        if isExcluded, !mayBeMissing {
            mistake(keys.exclude, "a clone would lack this mandatory attribute; add a default to it, or make it optional")
        }
        let rebuilt = Self.rebuilt(userInfo, keys, type, mistake)
        let follow = Self.follow(userInfo, keys, mayBeMissing, mistake)
        self.init(source: isExcluded ? .defaultValue : rebuilt, follow: isExcluded ? nil : follow)
    }

    private static func rebuilt(
        _ userInfo: [String: String], _ keys: CloneKeys, _ type: AttributeType, _ mistake: (String, String) -> Void
    ) -> Source {
        guard let word = userInfo[keys.rebuild] else { return .original }
        switch word.lowercased() {
        case "uuid" where type == .uuid: return .newUUID
        case "now" where type == .date: return .now
        case "uuid": mistake(keys.rebuild, "a new UUID does not fit the type \(type.rawValue)")
        case "now": mistake(keys.rebuild, "a time does not fit the type \(type.rawValue)")
        default: mistake(keys.rebuild, "'\(word)' is neither 'uuid' nor 'now'")
        }
        return .original
    }

    private static func follow(
        _ userInfo: [String: String], _ keys: CloneKeys, _ mayBeMissing: Bool, _ mistake: (String, String) -> Void
    ) -> Follow? {
        var fallback = Fallback.fail
        if let word = userInfo[keys.withoutParent] {
            switch word.lowercased() {
            case "keep": fallback = .keep
            case "blank":
                fallback = .blank
                if !mayBeMissing {
                    mistake(keys.withoutParent, "a clone would lack this mandatory attribute; add a default to it, or make it optional")
                }
            default: mistake(keys.withoutParent, "'\(word)' is neither 'keep' nor 'blank'")
            }
            if userInfo[keys.followParent] == nil {
                mistake(keys.withoutParent, "'\(keys.withoutParent)' has no effect without '\(keys.followParent)'")
            }
        }
        guard let path = userInfo[keys.followParent] else { return nil }
        let steps = path.split(separator: ".", omittingEmptySubsequences: false)
        guard let name = steps.last, !name.isEmpty, name != "^" else {
            mistake(keys.followParent, "the name of an attribute is missing; write a name such as 'id', or a path such as '^.^.id'")
            return nil
        }
        guard steps.dropLast().allSatisfy({ $0 == "^" }) else {
            mistake(keys.followParent, "'\(path)' is neither a name nor a path such as '^.^.id'")
            return nil
        }
        return Follow(levelCount: max(1, steps.count - 1), name: String(name), fallback: fallback)
    }
}

import CambiumModel

/// All rules that a transaction breaks.
///
/// ```swift
/// do {
///     try store.write { try $0.delete(shelf) }
/// } catch let error as CambiumError where error.code == .ruleViolated {
///     for violation in (error.underlying as? RuleViolations)?.violations ?? [] { print(violation) }
/// }
/// ```
public struct RuleViolations: Error, Hashable, Sendable {
    /// The violations. Denied deletions come first.
    public let violations: [Violation]
    /// The number of violations at the end of `violations` that are consequences of a denied deletion. Without the deletion, these
    /// violations would disappear.
    package let consequenceCount: Int
    /// Whether the transaction changes the schema, so that the remedies concern the new schema, too.
    private let isOfMigration: Bool

    init(violations: [Violation], consequenceCount: Int = 0, isOfMigration: Bool = false) {
        self.violations = violations
        self.consequenceCount = consequenceCount
        self.isOfMigration = isOfMigration
    }

    var isEmpty: Bool { violations.isEmpty }

    /// The maximum number of violations that a message describes. The message states only the number of all other violations.
    static let shownCountMax = 20

    /// The violations that are not consequences of a denied deletion. If a message cannot describe all of them, the first violation of each
    /// rule precedes the others. Otherwise a rule that many objects break would hide the other rules.
    ///
    /// For this purpose, rules of the same kind with the same properties count as one rule, because many sub-entities may inherit one rule.
    /// After the first violation of each rule, the first violation of each other entity that breaks the rule follows.
    package var causes: [Violation] {
        let causes = Array(violations.dropLast(consequenceCount))
        if causes.count <= Self.shownCountMax { return causes }
        var (rules, subjects): (Set<[String]>, Set<[String]>) = ([], [])
        var (examples, ofEntities, others): ([Violation], [Violation], [Violation]) = ([], [], [])
        for violation in causes {
            let rule = violation.subject
            let isFirstOfEntity = subjects.insert([violation.entityName] + rule).inserted
            if rules.insert(rule).inserted {
                examples.append(violation)
            } else if isFirstOfEntity {
                ofEntities.append(violation)
            } else {
                others.append(violation)
            }
        }
        return examples + ofEntities + others
    }

    /// The lines of the message: one for each violation that is described, and then up to two lines that count the other violations.
    fileprivate func lines(_ identity: (String) -> String?) -> [String] {
        let causes = causes
        var lines = causes.prefix(Self.shownCountMax).map { $0.sentences(isOfMigration: isOfMigration, identity: identity($0.object)) }
        if causes.count > lines.count { lines.append("and \(causes.count - lines.count) more") }
        if consequenceCount > 0 {
            let rules = consequenceCount == 1 ? "1 other rule" : "\(consequenceCount) other rules"
            lines.append("The deletion would also break \(rules) for objects that would lose a member.")
        }
        return lines
    }
}

extension CambiumError {
    /// - Parameter identity: Returns the identity of the object with a name, such as `Note/42`, for the message.
    init(_ violations: RuleViolations, identity: (String) -> String? = { _ in nil }) {
        let lines = violations.lines(identity)
        self.init(.ruleViolated, lines.first ?? "", details: Array(lines.dropFirst()), underlying: violations)
    }
}

import CambiumGraph
import CambiumModel

/// The error that prevents the commit of a transaction that was only a preview.
package struct EndOfPreview: Error {
    package init() {}
}

extension WriteTransaction {
    /// Returns the rules that a commit would report as broken. Throws the other errors of the check.
    package mutating func brokenRules() throws(CambiumError) -> [String] {
        do throws(CambiumError) {
            try draft.check()
            return []
        } catch {
            guard error.code == .ruleViolated else { throw error }
            return (error.underlying as? RuleViolations)?.violations.map(\.description) ?? [error.message]
        }
    }
}

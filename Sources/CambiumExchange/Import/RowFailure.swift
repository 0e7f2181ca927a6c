import CambiumGraph
import CambiumModel

/// Why a row cannot be imported, and where in the row the fault is.
package struct RowFailure: Error {
    let code: ImportReport.RowError.Code
    /// The JSON pointer to the fault inside the row.
    let pointer: String
    let message: String
}

extension RowFailure {
    init(_ violation: Violation) { self.init(code: violation.rule.rowErrorCode, pointer: "", message: violation.description) }

    /// Runs a hook. If the hook throws an error, throws a `RowFailure` whose message contains the error of the hook.
    package static func ofHook(_ body: () throws -> Void) throws(RowFailure) {
        do {
            try body()
        } catch {
            let message = (error as? CambiumError)?.message ?? "\(error)"
            throw RowFailure(code: .hookFailed, pointer: "", message: "the program's hook refused the row: \(message)")
        }
    }
}

extension Violation.Rule {
    var rowErrorCode: ImportReport.RowError.Code {
        switch self {
        case .mandatoryAttribute: .missingMandatory
        case .duplicate: .duplicate
        case .tooFewMembers, .tooManyMembers, .deleteDenied, .wrongMember, .valueRefused, .inexactValue, .severalMembers: .ruleViolated
        }
    }
}

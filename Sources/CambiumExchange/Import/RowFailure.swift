internal import CambiumJSON

/// The reason why a row cannot be imported, and its position in the row.
package struct RowFailure: Error {
    let code: ImportReport.RowError.Code
    /// The JSON pointer to the fault inside the row.
    let pointer: String
    let message: String
}

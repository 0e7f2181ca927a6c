/// The options that an import needs for each row. This type contains no references, because two threads read it constantly, and counting
/// references would cost time.
struct RowRules {
    let missing: ImportOptions.MissingKey
    let null: ImportOptions.NullValue
    let mismatch: ImportOptions.Mismatch
    let existing: ImportOptions.Existing
    let absent: ImportOptions.Absent
    let toMany: ImportOptions.ToMany
    let references: ImportOptions.Reference
    let unknown: ImportOptions.UnknownKey
    let onError: ImportOptions.RowError
    let rowObjects: ImportOptions.RowObjects
    /// The maximum number of rows in one transaction; `Int.max` if the options set no limit.
    let batchRowCount: Int

    init(_ options: ImportOptions) {
        missing = options.missing
        null = options.null
        mismatch = options.mismatch
        existing = options.existing
        absent = options.absent
        toMany = options.toMany
        references = options.references
        unknown = options.unknown
        onError = options.onError
        rowObjects = options.rowObjects
        batchRowCount = options.batchRowCount ?? .max
    }
}

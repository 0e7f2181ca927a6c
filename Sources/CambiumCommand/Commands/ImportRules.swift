import ArgumentParser
import Cambium

extension ImportOptions.MissingKey: ExpressibleByArgument {}
extension ImportOptions.NullValue: ExpressibleByArgument {}
extension ImportOptions.Mismatch: ExpressibleByArgument {}
extension ImportOptions.Existing: ExpressibleByArgument {}
extension ImportOptions.Absent: ExpressibleByArgument {}
extension ImportOptions.Orphans: ExpressibleByArgument {}
extension ImportOptions.ToMany: ExpressibleByArgument {}
extension ImportOptions.Reference: ExpressibleByArgument {}
extension ImportOptions.UnknownKey: ExpressibleByArgument {}
extension ImportOptions.RowError: ExpressibleByArgument {}
extension ImportSource.Format: ExpressibleByArgument {}

/// The options of `import` that state how it reads its files.
struct InputOptions: ParsableArguments {
    @Option(
        help: .init(
            "Read rows by this mapping, a JSON file that states where each property is and how it is read (Docs/Use/IMPORT.md).",
            valueName: "file"), completion: .file())
    var mapping: String?
    @Option(help: .init("Read all files in this format, whatever their names are.", valueName: "format")) var format: ImportSource.Format?
    @Option(
        help: .init(
            "Read the rows at this place of each JSON document, such as /data or /items/*.", valueName: "pointer"),
        transform: Self.pointer)
    var rows: RowPointer?
    @Option(help: .init("Report keys that map to nothing, reject their rows, or ignore the keys.", valueName: "rule"))
    var unknown = ImportOptions.UnknownKey.report
    @Option(help: .init("Stop the import at a bad row, or skip and report the row.", valueName: "rule"))
    var onError = ImportOptions.RowError.stop

    private static func pointer(_ text: String) throws -> RowPointer {
        do {
            return try RowPointer(text)
        } catch {
            throw ValidationError("--rows: \(error.message)")
        }
    }
}

/// The options of `import` that state how it treats the values in a row.
struct ImportValueOptions: ParsableArguments {
    @Option(help: .init("If a row lacks the key of a property: keep the value of the property, or clear it.", valueName: "rule"))
    var missing = ImportOptions.MissingKey.keep
    @Option(help: .init("If a row has null for a property: clear the property, keep its value, or reject the row.", valueName: "rule"))
    var null = ImportOptions.NullValue.clear
    @Option(
        help: .init(
            "Reject a row with a value of the wrong type, read the value as null, or keep the earlier value.", valueName: "rule"))
    var mismatch = ImportOptions.Mismatch.error
    @Option(help: .init("Replace the existing members of a to-many relationship, or append the members in the row.", valueName: "rule"))
    var toMany = ImportOptions.ToMany.replace
    @Option(
        help: .init(
            "If a reference names an object that does not exist: create a stub with only its identity, skip the reference, or reject the "
                + "row.", valueName: "rule"))
    var references = ImportOptions.Reference.create
}

/// The options of `import` that state its effect on the objects of the store.
struct ImportObjectOptions: ParsableArguments {
    @Option(help: .init("Update or skip an object that exists already.", valueName: "rule")) var existing = ImportOptions.Existing.update
    @Option(help: .init("Keep or delete the entity's objects that the files do not mention.", valueName: "rule"))
    var absent = ImportOptions.Absent.keep
    @Option(
        help: .init("Let --absent delete at most this number or percentage of objects (50% by default).", valueName: "limit"),
        transform: Self.limit)
    var absentMax: AbsentLimit?
    @Option(
        parsing: .unconditional,  // A condition may begin with a minus sign.
        help: .init(
            "Let --absent delete an object only if it satisfied this condition before the import. --absent-max can then be a percentage "
                + "of the objects that satisfied the condition.", valueName: "condition"))
    var scope: String?

    @Option(help: .init("Keep or delete owned objects that lose their last owner, such as replaced members.", valueName: "rule"))
    var orphans = ImportOptions.Orphans.keep

    private static func limit(_ text: String) throws -> AbsentLimit {
        guard let limit = AbsentLimit(text) else {
            throw ValidationError("A limit is a number of objects such as 100, or a percentage such as 10%.")
        }
        return limit
    }

    func validate() throws {
        try Arguments.checkOnce("--scope")
        if absentMax != nil, absent == .keep {
            throw ValidationError("--absent-max limits --absent delete. Add --absent delete, or omit --absent-max.")
        }
        if scope != nil, absent == .keep {
            throw ValidationError("--scope limits --absent delete. Add --absent delete, or omit --scope.")
        }
    }
}

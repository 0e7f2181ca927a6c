public import CambiumModel

/// The rules of an import. The command line has the same defaults.
///
/// ```swift
/// var options = ImportOptions.ignoringUnknownKeys
/// options.onError = .skip
/// options.effect = .dryRun
/// let report = try store.importRows(Note.self, from: .file("notes.json"), options: options)
/// print(report.counts.inserted, report.errors.count)
/// ```
public struct ImportOptions: Sendable, Hashable {
    /// The effect of a missing key. `clear` sets an optional attribute to null, even if it has a default. It sets a mandatory attribute to
    /// its default.
    public enum MissingKey: String, Sendable, CaseIterable { case keep, clear }
    /// The effect of `null`.
    public enum NullValue: String, Sendable, CaseIterable { case clear, keep, error }
    /// The effect of a value of the wrong type.
    public enum Mismatch: String, Sendable, CaseIterable { case error, null, keep }
    /// The effect of a row on an existing object.
    public enum Existing: String, Sendable, CaseIterable { case update, skip }
    /// The effect on objects of the entity that do not occur in the input.
    public enum Absent: String, Sendable, CaseIterable { case keep, delete }
    /// The effect on objects that an owner loses, such as the earlier items of a note whose items a row replaces.
    public enum Orphans: String, Sendable, CaseIterable { case keep, delete }
    /// The effect of the members in a row on the existing members of a to-many relationship.
    public enum ToMany: String, Sendable, CaseIterable { case replace, append }
    /// The effect of a reference to an identity that no object has.
    public enum Reference: String, Sendable, CaseIterable { case create, skip, error }
    /// The effect of a key that maps to no property.
    public enum UnknownKey: String, Sendable, CaseIterable { case report, error, ignore }
    /// The effect of a row that cannot be imported.
    public enum RowError: String, Sendable, CaseIterable { case stop, skip }
    /// Whether an import commits its changes or only reports what it would change.
    public enum Effect: Sendable, Hashable { case commit, dryRun }
    /// Whether the report contains the object of each row.
    public enum RowObjects: Sendable, Hashable { case forget, report }

    /// The effect of a missing key: by default, the property keeps its value.
    public var missing = MissingKey.keep
    /// The effect of `null`: by default, it clears the property.
    public var null = NullValue.clear
    /// The effect of a value of the wrong type: by default, the row cannot be imported.
    public var mismatch = Mismatch.error
    /// The effect of a row on an existing object: by default, the row updates the object. An object counts as existing if it existed
    /// before the transaction. So with `batchRowCount`, the objects of earlier batches count as existing.
    public var existing = Existing.update
    /// The effect on absent objects: by default, they stay.
    public var absent = Absent.keep
    /// The effect on objects that lose their last owner: by default, they stay, unless the schema has a rule for them. `delete` concerns
    /// relationships with the delete rule `cascade`, with a mandatory inverse, or to objects without an identity.
    public var orphans = Orphans.keep
    /// The effect on the members of a to-many relationship: by default, the members in the row replace them.
    public var toMany = ToMany.replace
    /// The effect of a reference to an unknown identity: by default, a stub is created, an object of which only the identity is known.
    public var references = Reference.create
    /// The effect of an unknown key: by default, the report counts it.
    public var unknown = UnknownKey.report
    /// The effect of a row that cannot be imported: by default, the import fails and nothing is imported.
    public var onError = RowError.stop
    /// Whether the import commits its changes. By default, it does.
    public var effect = Effect.commit
    /// Whether the report has the object of each row. By default, it does not.
    public var rowObjects = RowObjects.forget
    /// The number of rows in one transaction; `nil` for all rows in one transaction.
    public var batchRowCount: Int?
    /// The mapping that states where each property is in a row; `nil` if the keys of a row are the names of properties.
    public var mapping: ImportMapping? {
        get { if case .mapping(let mapping) = reading { mapping } else { nil } }
        set { reading = newValue.map { .mapping($0) } ?? .names }
    }
    /// The place of the rows in each JSON document, such as `/data`; `nil` if each document, or each element of an array, is a row. CSV has
    /// no such place.
    public var rows: RowPointer?
    /// The maximum number of objects that `absent: .delete` may delete. If more objects are absent, the import fails.
    public var absentMax = AbsentLimit.standard

    /// The condition for deleting an object as absent; `nil` for all objects of the entity. The object must satisfy the condition before
    /// the import. A percentage in `absentMax` is then relative to the objects that satisfy the condition.
    public var absentScope: Condition?

    private var reading = Reading.names

    /// `indirect` keeps the options small: a field of this type takes one word of memory, even with a mapping.
    private indirect enum Reading: Sendable, Hashable {
        case names
        case mapping(ImportMapping)
    }

    /// Creates the default options.
    public init() {}
}

/// Named sets of options. The sets differ in the treatment of keys and values that an import cannot use.
extension ImportOptions {
    /// A missing key, null or a value of the wrong type clears the attribute, as in the library Vokoder.
    public static var clearingUnusableValues: ImportOptions {
        var options = ImportOptions()
        options.missing = .clear
        options.null = .clear
        options.mismatch = .null
        return options
    }

    /// A missing key, null or a value of the wrong type keeps the present value, as in the library Vokoder with
    /// `ignoreNullValueOverwrites`.
    public static var keepingUnusableValues: ImportOptions {
        var options = ImportOptions()
        options.missing = .keep
        options.null = .keep
        options.mismatch = .keep
        return options
    }

    /// Null or a value of the wrong type clears the attribute. A missing key keeps the present value, and unknown keys are ignored, as in
    /// the library Coredatable.
    public static var clearingMismatches: ImportOptions {
        var options = ImportOptions()
        options.mismatch = .null
        options.unknown = .ignore
        return options
    }

    /// Null clears the attribute, a missing key keeps the present value, and a value of the wrong type is an error. Unknown keys are
    /// ignored, as in the library Groot.
    public static var ignoringUnknownKeys: ImportOptions {
        var options = ImportOptions()
        options.unknown = .ignore
        return options
    }
}

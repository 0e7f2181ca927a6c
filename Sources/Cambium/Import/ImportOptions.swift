/// How an import treats what it meets. The defaults are those of the command line.
public struct ImportOptions: Sendable, Hashable {
    /// What an absent key does.
    public enum MissingKey: String, Sendable, CaseIterable { case keep, clear }
    /// What `null` does.
    public enum NullValue: String, Sendable, CaseIterable { case clear, keep, error }
    /// What a value of the wrong type does.
    public enum Mismatch: String, Sendable, CaseIterable { case error, null, keep }
    /// What a row does to an object that exists.
    public enum Existing: String, Sendable, CaseIterable { case update, skip }
    /// What becomes of objects of the entity that the input does not mention.
    public enum Absent: String, Sendable, CaseIterable { case keep, delete }
    /// What the members given do to the members of a to-many relationship.
    public enum ToMany: String, Sendable, CaseIterable { case replace, append }
    /// What an id without an object does.
    public enum Reference: String, Sendable, CaseIterable { case create, skip, error }
    /// What a key that maps to nothing does.
    public enum UnknownKey: String, Sendable, CaseIterable { case report, error, ignore }
    /// What a bad row does.
    public enum RowError: String, Sendable, CaseIterable { case stop, skip }
    /// Whether the outcome is written.
    public enum Effect: Sendable, Hashable { case commit, dryRun }
    /// Whether the report has the object of each row.
    public enum RowObjects: Sendable, Hashable { case forget, report }

    public var missing = MissingKey.keep
    public var null = NullValue.clear
    public var mismatch = Mismatch.error
    public var existing = Existing.update
    public var absent = Absent.keep
    public var toMany = ToMany.replace
    public var references = Reference.create
    public var unknown = UnknownKey.report
    public var onError = RowError.stop
    public var effect = Effect.commit
    public var rowObjects = RowObjects.forget
    /// Rows in one transaction; nil for all of them in one.
    public var batchRowCount: Int?
    /// Where in a row each property is; nil where keys are names.
    public var mapping: ImportMapping? {
        get { if case .mapping(let mapping) = reading { mapping } else { nil } }
        set { reading = newValue.map { .mapping($0) } ?? .names }
    }
    /// How many of the entity's objects `absent: .delete` may delete; more is an error.
    public var absentMax = AbsentLimit.standard

    private var reading = Reading.names

    /// Takes a word, so that options stay small: the way of rows looks at them all the time.
    private indirect enum Reading: Sendable, Hashable {
        case names
        case mapping(ImportMapping)
    }

    public init() {}
}

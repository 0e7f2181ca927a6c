import ArgumentParser

/// The options that state which objects `find` selects.
struct ConditionOptions: ParsableArguments {
    // A condition and the value of an identity may begin with a minus sign, so the parser must not mistake them for options.
    @Option(
        parsing: .unconditional,
        help: .init(
            "Find only objects that satisfy this condition, such as 'age > 30 and name beginswith \"Ma\"'.", valueName: "condition"))
    var `where`: String?
    @Option(
        help: .init(
            "Find the objects that the stored query with this name selects. The schema contains the stored queries. To add a condition, "
                + "use --where. --sort and --limit replace the order and the limit of the query. "
                + "--set source=ID names the object that $source represents.", valueName: "name"),
        completion: .custom(NameCompletion.queries))
    var query: String?
    @Option(
        help: .init(
            "Set a parameter of the condition, such as limit=10 for $limit; name:=JSON takes a JSON value or an array of values. "
                + "Repeat the option for each.",
            valueName: "name=value"))
    var set: [AssignmentArgument] = []
    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            "Find only the object with this identity. Repeat the option for each value of the identity.", valueName: "value"))
    var identity: [String] = []
    @Flag(help: "Find only stubs: objects of which only the identity is known.") var stubs = false

    /// The option that contains the text of the query. The positions in errors of the query refer to this text.
    var textOption: String { query == nil ? "--where" : "--query" }

    func validate() throws {
        try Arguments.checkOnce("--where")
        try set.checkNames()
    }
}

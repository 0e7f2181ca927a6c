/// Options with the names of the libraries whose imports they resemble.
extension ImportOptions {
    /// Vokoder: a missing key, null or a value of the wrong type clears.
    public static var vokoder: ImportOptions {
        var options = ImportOptions()
        options.missing = .clear
        options.null = .clear
        options.mismatch = .null
        return options
    }

    /// Vokoder with `ignoreNullValueOverwrites`: a missing key, null or a value of the wrong type keeps.
    public static var vokoderKeepingNulls: ImportOptions {
        var options = ImportOptions()
        options.missing = .keep
        options.null = .keep
        options.mismatch = .keep
        return options
    }

    /// Coredatable: null or a value of the wrong type clears, a missing key keeps, unknown keys are ignored.
    public static var coredatable: ImportOptions {
        var options = ImportOptions()
        options.mismatch = .null
        options.unknown = .ignore
        return options
    }

    /// Groot: null clears, a missing key keeps, a value of the wrong type is an error, unknown keys are ignored.
    public static var groot: ImportOptions {
        var options = ImportOptions()
        options.unknown = .ignore
        return options
    }
}

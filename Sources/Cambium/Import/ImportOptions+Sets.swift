/// Options named after the libraries whose imports they are like.
extension ImportOptions {
    /// Vokoder: what is absent, null or of the wrong type clears.
    public static var vokoder: ImportOptions {
        var options = ImportOptions()
        options.missing = .clear
        options.null = .clear
        options.mismatch = .null
        return options
    }

    /// Vokoder with `ignoreNullValueOverwrites`: what is absent, null or of the wrong type keeps.
    public static var vokoderKeepingNulls: ImportOptions {
        var options = ImportOptions()
        options.missing = .keep
        options.null = .keep
        options.mismatch = .keep
        return options
    }

    /// Coredatable: null and what is of the wrong type clear, absent keys keep, keys that map to nothing are ignored.
    public static var coredatable: ImportOptions {
        var options = ImportOptions()
        options.mismatch = .null
        options.unknown = .ignore
        return options
    }

    /// Groot: null clears, absent keys keep, what is of the wrong type is an error, keys that map to nothing are ignored.
    public static var groot: ImportOptions {
        var options = ImportOptions()
        options.unknown = .ignore
        return options
    }
}

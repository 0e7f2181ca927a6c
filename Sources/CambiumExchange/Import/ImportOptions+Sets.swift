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

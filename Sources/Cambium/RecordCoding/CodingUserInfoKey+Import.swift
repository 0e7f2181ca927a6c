internal import CambiumBytes

/// The keys of a decoder's `userInfo` by which `ImportedRecords` and `ImportedRecord` import.
extension CodingUserInfoKey {
    /// The `Store` that takes the records. It is required.
    public static let cambiumStore = key("cambium.store")
    /// The `ImportOptions`: the mapping and the rules. Without it, the options have their defaults.
    public static let cambiumImportOptions = key("cambium.importOptions")
    /// The `ImportHooks`. Without it, there are no hooks.
    public static let cambiumImportHooks = key("cambium.importHooks")
    /// The `Author` of the transaction.
    public static let cambiumAuthor = key("cambium.author")

    private static func key(_ name: String) -> CodingUserInfoKey {
        guard let key = CodingUserInfoKey(rawValue: name) else { Trap.because("Swift refuses the name \(name) of a key in userInfo.") }
        return key
    }
}

internal import CambiumBytes

/// The keys of a decoder's `userInfo` that control the import of `ImportedRecords` and `ImportedRecord`.
extension CodingUserInfoKey {
    /// The `Store` into which the records are imported. This key is required.
    public static let cambiumStore = key("cambium.store")
    /// The `ImportOptions`: the mapping and the rules. If this key is missing, the default options apply.
    public static let cambiumImportOptions = key("cambium.importOptions")
    /// The `ImportHooks`. If this key is missing, there are no hooks.
    public static let cambiumImportHooks = key("cambium.importHooks")
    /// The `Author` of the transaction.
    public static let cambiumAuthor = key("cambium.author")

    private static func key(_ name: String) -> CodingUserInfoKey {
        guard let key = CodingUserInfoKey(rawValue: name) else { Trap.because("Swift refuses the name \(name) of a key in userInfo.") }
        return key
    }
}

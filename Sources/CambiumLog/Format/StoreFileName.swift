/// The names of files in the directory of a store that more than one component uses. FORMAT.md 1.
enum StoreFileName {
    static let settings = "store.json"
    static let lock = "LOCK"
}

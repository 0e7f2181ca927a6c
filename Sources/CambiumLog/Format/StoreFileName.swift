/// The names that more than one component uses for files in the directory of a store. FORMAT.md 1.
enum StoreFileName {
    static let settings = "store.json"
    static let lock = "LOCK"
}

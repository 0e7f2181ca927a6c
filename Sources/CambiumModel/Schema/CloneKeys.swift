/// The keys of `userInfo` that control a clone. A schema that uses the standard keys for another purpose needs other keys.
///
/// ```swift
/// let keys = CloneKeys(exclude: "noCopy")
/// let copy = try store.write { try $0.clone(note, CloneRequest(keys: keys)) }.result.root
/// ```
public struct CloneKeys: Hashable, Sendable {
    package var exclude: String
    package var rebuild: String
    package var followParent: String
    package var withoutParent: String

    /// Creates keys. If a parameter is omitted, the key has the name of the parameter.
    public init(
        exclude: String = "exclude", rebuild: String = "rebuild", followParent: String = "followParent",
        withoutParent: String = "withoutParent"
    ) {
        self.exclude = exclude
        self.rebuild = rebuild
        self.followParent = followParent
        self.withoutParent = withoutParent
    }

    package static let standard = CloneKeys()
}

/// The keys of `userInfo` that control a clone, for schemas that use the standard keys for another purpose.
public struct CloneKeys: Hashable, Sendable {
    package var exclude: String
    package var rebuild: String
    package var followParent: String
    package var withoutParent: String

    /// Creates keys. A parameter that is omitted means the standard key, which has the name of the parameter.
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

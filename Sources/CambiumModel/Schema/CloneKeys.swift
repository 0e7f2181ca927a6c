/// The keys of `userInfo` that control a clone, for schemas that use the standard keys for another purpose.
public struct CloneKeys: Hashable, Sendable {
    public var exclude: String
    public var rebuild: String
    public var followParent: String
    public var withoutParent: String

    public init(
        exclude: String = "exclude", rebuild: String = "rebuild", followParent: String = "followParent",
        withoutParent: String = "withoutParent"
    ) {
        self.exclude = exclude
        self.rebuild = rebuild
        self.followParent = followParent
        self.withoutParent = withoutParent
    }

    public static let standard = CloneKeys()
}

import ArgumentParser
import Cambium

/// The options that name a trusted root, key or policy.
struct TrustOptions: ParsableArguments {
    @Option(help: .init("Accept the tree with this root: 64 hexadecimal digits, as 'verify' prints them.", valueName: "root"))
    var root: String?
    @Option(help: .init("Accept a tree that the log of this public key has signed: NAME+ID+KEY, as 'sign' prints it.", valueName: "key"))
    var key: String?
    @Option(
        help: .init("Accept a tree that a log and enough witnesses of this policy have signed (C2SP tlog-policy).", valueName: "file"),
        completion: .file())
    var policy: String?

    init() {}

    /// Creates the options of a command that has its own names for them.
    init(key: String?, policy: String?) { (root, self.key, self.policy) = (nil, key, policy) }

    var count: Int { [root, key, policy].count { $0 != nil } }

    func validate() throws {
        if count > 1 { throw ValidationError("--root, --key and --policy exclude each other. Give one of them.") }
        if let root, TreeHash(hex: root) == nil {
            throw ValidationError("--root is '\(root)', but must be a root, which has 64 hexadecimal digits.")
        }
    }

    /// Returns the trust that the options state; `nil` if there are none.
    func trust() throws -> Trust? {
        if let hash = root.flatMap({ TreeHash(hex: $0) }) { return .root(hash) }
        if let key { return .key(try NoteKey(parsing: key)) }
        return try policy.map { path in
            let bytes = try Terminal.contents(of: path, byteCountMax: TrustPolicy.byteCountMax)
            do throws(CambiumError) {
                return .policy(try TrustPolicy(parsing: bytes))
            } catch {
                var error = error
                error.place?.file = path
                throw error
            }
        }
    }
}

/// A family of attacks, such as corrupt files or killed commands.
struct AttackMatrix: Sendable {
    /// The first part of the names of the attacks.
    let name: String
    let run: @Sendable (Attack) throws -> Void

    static let all = [
        AttackMatrix(name: "corruptions") { try CorruptionMatrix($0).run() },
        AttackMatrix(name: "pairs") { try PairMatrix($0).run() },
        AttackMatrix(name: "kills") { try KillMatrix($0).run() },
        AttackMatrix(name: "ops") { try ForgedOpMatrix($0).run() },
        AttackMatrix(name: "pages") { try ForgedPageMatrix($0).run() },
    ]
}

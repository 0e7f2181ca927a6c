import CambiumTesting
import FuzzTargets

/// Attacks with logs that end with a transaction that no store writes. The checksums of the logs match.
struct ForgedOpMatrix {
    private let attack: Attack
    /// The number of byte forgeries that run unless the options ask for all of them.
    private static let byteForgeryCount = 700

    init(_ attack: Attack) { self.attack = attack }

    func run() throws {
        let sample = try ForgedSample()
        let attack = attack
        try attack.forEach(try chosen()) { forgery in
            let files = try ForgedLog.append([forgery.ops.payload], to: sample.files)
            try ForgeryRun(forgery.name, "\(forgery.ops)", files, sound: nil, attack).run()
        }
    }

    /// Returns the wanted forgeries. Their names contain their positions in the list of all forgeries.
    private func chosen() throws -> [(name: String, ops: ForgedOps)] {
        let bytes = try ForgedOps.bytes().enumerated().map { (name: "ops/bytes/\($0.offset)", ops: $0.element) }
        var random = attack.random(for: "ops")
        let some = bytes.shuffled(using: &random).prefix(Self.byteForgeryCount)
        let isWhole = attack.options.isFull || attack.options.only.hasPrefix("ops/bytes/")
        let others = try (ForgedOps.values() + ForgedOps.limits() + ForgedOps.labels()).enumerated().map {
            (name: "ops/\($0.offset)", ops: $0.element)
        }
        return (others + (isWhole ? bytes : Array(some))).filter { attack.isWanted($0.name) }
    }
}

import CambiumTesting
import FuzzTargets

/// Attacks with checkpoints in which one number of a page was replaced. The checksums of the checkpoints match.
struct ForgedPageMatrix {
    private let attack: Attack
    private static let count = 400
    private static let countOfAll = 20_000

    init(_ attack: Attack) { self.attack = attack }

    func run() throws {
        let sample = try ForgedSample()
        let pages = try ForgedPages(sample.files)
        let directory = try attack.makeDirectory()
        try ForgeryRun.write(sample.files, to: directory + "/store")
        let sound = try Child.run(attack.options.cambium, ForgeryRun.export, in: directory)
        let attack = attack
        let names = (0..<(attack.options.isFull ? Self.countOfAll : Self.count)).map { "pages/\($0)" }
        try attack.forEach(names.filter { attack.isWanted($0) }) { name in
            var random = attack.random(for: name)
            guard let mutation = PageMutation.random(of: pages, using: &random) else { return }
            var forged = pages
            forged.apply(mutation)
            try ForgeryRun(name, "\(mutation)", try forged.files(), sound: sound.output, attack).run()
        }
    }
}

import CambiumBytes
import CambiumTesting
import Dispatch
import Foundation

/// One run of the program `Attacks`: its options, its work directory and its findings.
///
/// SENDABLE: all mutable state is in `state`, under its lock.
final class Attack: @unchecked Sendable {
    private struct State {
        var runCounts: [String: Int] = [:]
        var findingCounts: [String: Int] = [:]
        var directoryCount = 0
    }

    let options: AttackOptions
    private let state = Guarded(State())

    /// The number of commands that run at the same time. The machine that runs the tests has two cores.
    static let childCount = 2

    init(_ options: AttackOptions) throws {
        self.options = options
        try FileManager.default.createDirectory(atPath: options.work, withIntermediateDirectories: true)
    }

    // MARK: Selection

    /// Returns whether `options.only` may select an attack of a matrix (a family of attacks).
    func isWanted(matrix: String) -> Bool { options.only.hasPrefix(matrix) || matrix.hasPrefix(options.only) }

    /// Returns whether `options.only` selects an attack, or at least one of the attacks whose names begin with `name`.
    func isWanted(_ name: String) -> Bool { name.hasPrefix(options.only) || options.only.hasPrefix(name + "/") }

    /// Returns a generator of random numbers for an attack. Its numbers depend only on the seed and the attack's name, and not on the
    /// attacks that ran before.
    func random(for name: String) -> SplitMix64 {
        // Source: the hash FNV-1a.
        let hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return SplitMix64(seed: options.seed ^ hash)
    }

    /// Calls `body` with each element, on as many threads as commands may run at the same time.
    func forEach<Element: Sendable>(_ elements: [Element], _ body: @Sendable (Element) throws -> Void) throws {
        let next = Guarded(0)
        let failure = Guarded<(any Error)?>(nil)
        DispatchQueue.concurrentPerform(iterations: Self.childCount) { _ in
            while failure.withLock({ $0 == nil }) {
                let index = next.withLock { next in
                    defer { next += 1 }
                    return next
                }
                guard index < elements.count else { return }
                do { try body(elements[index]) } catch { failure.withLock { $0 = $0 ?? error } }
            }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    // MARK: Directories

    /// Creates an empty directory. The caller removes it.
    func makeDirectory() throws -> String {
        let number = state.withLock { state in
            state.directoryCount += 1
            return state.directoryCount
        }
        let path = options.work + "/\(number)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        return path
    }

    func removeWork() throws { try FileManager.default.removeItem(atPath: options.work) }

    // MARK: Findings

    /// Counts one command that ran for an attack of a matrix.
    func count(_ matrix: String) { state.withLock { $0.runCounts[matrix, default: 0] += 1 } }

    /// Prints a line at once, without buffering.
    func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    /// Prints a finding and the command that repeats its attack.
    ///
    /// - Parameters:
    ///   - name: the name of the attack.
    ///   - sentence: the fault that was found.
    ///   - outcome: the command that showed the fault.
    ///   - directory: the directory that keeps the files of the finding.
    func report(_ name: String, _ sentence: String, _ outcome: Outcome? = nil, directory: String? = nil) {
        let matrix = String(name.prefix { $0 != "/" })
        var lines = ["finding: \(name): \(sentence)"]
        if let outcome { lines += outcome.lines }
        if let directory { lines.append("  files: \(directory)") }
        lines.append("  again: Attacks --cambium \(options.cambium) --seed \(options.seed) --only '\(name)'")
        let text = lines.joined(separator: "\n")
        state.withLock { state in
            state.findingCounts[matrix, default: 0] += 1
            say(text)
        }
    }

    var findingCount: Int { state.withLock { $0.findingCounts.values.reduce(0, +) } }

    func findingCount(of matrix: String) -> Int { state.withLock { $0.findingCounts[matrix] ?? 0 } }

    func summary(of matrix: String) -> String {
        state.withLock { "\(matrix): \($0.runCounts[matrix] ?? 0) runs, \($0.findingCounts[matrix] ?? 0) findings" }
    }
}

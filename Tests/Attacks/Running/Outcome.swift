/// The result of a command: the way in which it ended, and its output.
struct Outcome: Sendable {
    enum Ending: Sendable, Equatable {
        case exited(Int32)
        /// A signal ended the command, as after a trap.
        case signalled(Int32)
        /// The command reached its time limit and was killed.
        case killed
    }

    let arguments: [String]
    let ending: Ending
    let output: [UInt8]
    let errors: String

    /// The exit codes that the command line promises.
    static let documentedCodes: Set<Int32> = [0, 1, 64, 65, 66, 73, 74, 75]

    /// The exit code, or `nil` if a signal ended the command.
    var code: Int32? { if case .exited(let code) = ending { code } else { nil } }

    var isDone: Bool { code == 0 }

    var text: String { String(decoding: output, as: UTF8.self) }

    /// Returns the fault in the way in which the command ended, or `nil` if it ended properly. The faults are a signal, a hang, an
    /// undocumented exit code, and an error without a sentence. No command may have one of these faults.
    ///
    /// - Parameter hasFindings: whether the command may exit with 1 and print its findings on its output.
    func misconduct(hasFindings: Bool = false) -> String? {
        switch ending {
        case .killed: return "the command hangs"
        case .signalled(let signal): return "signal \(signal) ended the command"
        case .exited(let code):
            guard Self.documentedCodes.contains(code) else { return "the exit code \(code) is not documented" }
            if code == 0 || code == 1 && hasFindings { return nil }
            if !errors.hasPrefix("cambium: ") || errors.utf8.count < 24 { return "the error has no sentence" }
            return nil
        }
    }

    /// The description of the outcome for readers of a finding.
    var lines: [String] {
        let ending =
            switch ending {
            case .exited(let code): "exit code \(code)"
            case .signalled(let signal): "signal \(signal)"
            case .killed: "no end within the time limit"
            }
        var lines = ["  command: cambium \(arguments.joined(separator: " "))", "  ended: \(ending)"]
        if !errors.isEmpty { lines.append("  stderr: \(errors.prefix(600))") }
        if !output.isEmpty { lines.append("  stdout: \(text.prefix(300))") }
        return lines
    }
}

import Cambium
import CambiumJSON
import Glibc

/// Reports errors to the user. The exit codes from 64 on are those of sysexits.h.
enum Failure {
    /// The exit code if a command found a problem, such as a corrupt store, or if the store refused a change.
    static let badNews: Int32 = 1
    static let usage: Int32 = 64
    static let ioFailure: Int32 = 74

    static func exitCode(_ code: CambiumError.Code) -> Int32 {
        switch code {
        case .unknownName: usage
        case .invalidInput, .limitExceeded: 65
        case .notFound, .expired: 66
        case .ruleViolated, .conflict, .cyclic, .notProved: badNews
        case .cannotCreate: 73
        case .locked: 75
        default: ioFailure
        }
    }

    static func exit(_ error: CambiumError) -> Never {
        report(error)
        Terminal.exit(exitCode(error.code))
    }

    /// Writes an error to standard error: one line for the error, and one for each of its details.
    static func report(_ error: CambiumError) {
        Terminal.error("cambium: \(error.headline)")
        for detail in error.details { Terminal.error("  \(detail)") }
    }

    static func exit(usage message: String, _ fullMessage: String) -> Never {
        Terminal.error("cambium: \(shortened(message))")
        // The help and the usage follow the message. They are found by counting the lines of the message, because a value in the message
        // may contain line breaks.
        let lineCount = message.split(separator: "\n", omittingEmptySubsequences: false).count
        for line in fullMessage.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(lineCount) {
            Terminal.error(String(line))
        }
        Glibc.exit(usage)
    }

    /// Returns a message in which an excerpt replaces each long argument, and each long value after an equals sign.
    static func shortened(_ message: String, arguments: [String] = CommandLine.arguments) -> String {
        let values = arguments.flatMap { argument in
            [argument] + (argument.firstIndex(of: "=").map { [String(argument[argument.index(after: $0)...])] } ?? [])
        }
        var message = message
        for value in values.sorted(by: { $0.utf8.count > $1.utf8.count }) where value.unicodeScalars.count > Excerpt.characterCountMax {
            message = message.replacing(value, with: Excerpt.plain(value))
        }
        return message
    }
}

extension Store {
    /// Calls `body`, and closes the store. Closes it after an error of `body`, too, as `close(after:)` does.
    func use<Result>(_ body: (Store) throws -> Result) throws -> Result {
        let result: Result
        do {
            result = try body(self)
        } catch {
            throw close(after: error)
        }
        try close()
        return result
    }

    /// Closes the store after an error, and returns the error to throw: the first error, because it states why the command failed. If
    /// closing fails, too, the error of closing becomes a detail of the first error.
    ///
    /// A repeated request is not a failure. If closing fails after a repeated request, the error of closing is returned.
    func close(after first: any Error) -> any Error {
        do throws(CambiumError) {
            try close()
            return first
        } catch {
            guard var failure = first as? CambiumError else { return first }
            if failure.code == .repeated { return error }
            failure.details.append("The store could not be closed: \(error.headline)")
            return failure
        }
    }
}

import Cambium

#if canImport(Glibc)
    import Glibc
#endif

/// How errors leave the program. The exit codes are those of sysexits.h.
enum Failure {
    static let badNews: Int32 = 1
    static let usage: Int32 = 64

    static func exitCode(_ code: CambiumError.Code) -> Int32 {
        switch code {
        case .unknownName: usage
        case .invalidInput, .limitExceeded: 65
        case .notFound: 66
        case .ruleViolated, .conflict: badNews
        case .cannotCreate: 73
        case .locked: 75
        default: 74
        }
    }

    static func exit(_ error: CambiumError) -> Never {
        Terminal.error("cambium: \(error)\n")
        Glibc.exit(exitCode(error.code))
    }

    static func exit(usage message: String, _ fullMessage: String) -> Never {
        let help = fullMessage.split(separator: "\n", omittingEmptySubsequences: false).dropFirst()
        Terminal.error("cambium: \(message)\n" + help.joined(separator: "\n") + "\n")
        Glibc.exit(usage)
    }
}

import ArgumentParser

/// Checks of the arguments before they are parsed.
enum Arguments {
    /// Checks that each argument is UTF-8, and that no condition is given twice.
    static func check() throws {
        try checkEncoding()
        try checkConditions(CommandLine.arguments.dropFirst().prefix { $0 != "--" })
    }

    /// Refuses a condition that is given twice. The argument parser would use only the last one, so a command could find and change more
    /// objects than the person meant.
    private static func checkConditions(_ arguments: some Sequence<String>) throws {
        var found: Set<Substring> = []
        for name in arguments.map({ $0.prefix { $0 != "=" } }) where ["--where", "--having", "--scope"].contains(name) {
            if !found.insert(name).inserted { throw ValidationError("\(name) is given twice. Join the conditions with 'and'.") }
        }
    }

    /// Refuses an argument that is not UTF-8, because a Swift string would replace the invalid bytes by another character.
    private static func checkEncoding() throws {
        // SAFETY: the operating system terminates each argument with a zero byte, and the arguments live as long as the process.
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[index] else { return }
            if String(validatingCString: argument) == nil {
                let text = String(cString: argument)
                throw ValidationError("Argument \(index), '\(text)', is not UTF-8. Names and values must be UTF-8.")
            }
        }
    }
}

import ArgumentParser

/// The bytes of the arguments, before they are converted to strings. A string replaces bytes that are not UTF-8 by other characters, so the
/// argument would mean something else.
enum Arguments {
    /// Checks that each argument is UTF-8.
    static func check() throws {
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

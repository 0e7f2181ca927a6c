import ArgumentParser

/// The arguments of the process, before they become strings: a string replaces bytes that are not UTF-8, and so names something else.
enum Arguments {
    /// Throws for an argument that is not UTF-8.
    static func check() throws {
        // SAFETY: the system ends each argument with a zero, and keeps all of them as long as the process lives.
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[index] else { return }
            if String(validatingCString: argument) == nil {
                let text = String(cString: argument)
                throw ValidationError("Argument \(index), '\(text)', is not UTF-8. Cambium's names and values are UTF-8.")
            }
        }
    }
}

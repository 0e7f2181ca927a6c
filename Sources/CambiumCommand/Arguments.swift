import ArgumentParser

/// The arguments of the process, before they become strings: a string replaces bytes that are not UTF-8, and so names something else.
enum Arguments {
    /// Throws for an argument that is not UTF-8.
    static func check() throws {
        // The system passes bytes, each argument with a zero at its end.
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[index] else { return }
            if String(validatingCString: argument) == nil {
                let text = String(cString: argument)
                throw ValidationError("Argument \(index), '\(text)', is not UTF-8. Cambium's names and values are UTF-8.")
            }
        }
    }
}

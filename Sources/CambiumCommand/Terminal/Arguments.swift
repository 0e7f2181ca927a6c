import ArgumentParser
import CambiumJSON

/// Checks of the program's arguments, in addition to the checks of the argument parser.
enum Arguments {
    /// Checks that each argument is UTF-8, and that the command exists.
    ///
    /// - Parameter commands: The names of all commands.
    static func check(_ commands: [String]) throws {
        try checkEncoding()
        try checkCommand(CommandLine.arguments.dropFirst(), commands)
    }

    /// Throws if the command, or the command whose help is requested, does not exist. Without this check, the argument parser would report
    /// all arguments as unexpected. For the help of an unknown command, it would print the help of the program.
    private static func checkCommand(_ arguments: ArraySlice<String>, _ commands: [String]) throws {
        guard let name = (arguments.first == "help" ? arguments.dropFirst() : arguments).first else { return }
        if name.hasPrefix("-") || name == "help" || commands.contains(name) { return }
        throw ValidationError("There is no command '\(Excerpt.plain(name))'. 'cambium help' lists the commands.")
    }

    /// Throws if an option that takes a condition is given twice. Without this check, the argument parser would use only the last
    /// condition. A command could then find, and thus change, more objects than the user wants.
    ///
    /// Option groups call this method in `validate`, because the parser then prints the usage of the command with the error.
    static func checkOnce(_ option: String) throws {
        let names = CommandLine.arguments.dropFirst().prefix { $0 != "--" }.map { $0.utf8.prefix { $0 != UInt8(ascii: "=") } }
        if names.count(where: { $0.elementsEqual(option.utf8) }) > 1 {
            throw ValidationError("\(option) is given twice. Join the conditions with 'and'.")
        }
    }

    /// Throws if an argument is not UTF-8. A string would have other characters in place of the invalid bytes, so the argument would mean
    /// something else.
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

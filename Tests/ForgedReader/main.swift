import Cambium
import CambiumLog
import CambiumModel
import FuzzTargets

#if canImport(Glibc)
    import Glibc
#endif

// Does with a store whatever a program may do, its pages checked where they are read, as those of a large store are.
//
//     ForgedReader STORE
//
// Ends with exit code 0, with 74 and a message if a page is not what it has to be, or with 70 for anything that must not be. A process that
// takes over a minute goes in circles, and is ended by a signal.

func end(_ code: Int32, _ message: String) -> Never {
    let line = Array("\(message)\n".utf8)
    _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    exit(code)
}

guard CommandLine.arguments.count == 2 else { end(64, "usage: ForgedReader STORE") }
alarm(60)
Store.onDamagedPages { end(74, $0.description) }
do {
    try Exercise.run(SystemVolume(root: CommandLine.arguments[1]), isLazy: true)
} catch is CambiumError {
    // Refused; or a value became another one, which a rule of the schema or a row does not go with.
    exit(0)
} catch {
    end(70, "\(error)")
}

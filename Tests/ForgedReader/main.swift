import Cambium
import CambiumLog
import CambiumModel
import FuzzTargets
import Glibc

// Runs every operation on a store. Pages are checked when they are read, as in a large store.
//
//     ForgedReader STORE
//
// The exit code is 0 if the store works or is refused, 74 with a message if a page is corrupt, and 70 for any other error. A process that
// runs longer than a minute is in a loop, and SIGALRM ends it.

func end(_ code: Int32, _ message: String) -> Never {
    let line = Array("\(message)\n".utf8)
    _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    exit(code)
}

guard CommandLine.arguments.count == 2 else { end(64, "usage: ForgedReader STORE") }
alarm(60)
Store.onCorruptPages { end(74, $0.description) }
do {
    try Exercise.run(SystemVolume(root: CommandLine.arguments[1]), isLazy: true)
} catch is CambiumError {
    // The store was refused, or a forged value conflicts with a rule of the schema or with an imported row.
    exit(0)
} catch {
    end(70, "\(error)")
}

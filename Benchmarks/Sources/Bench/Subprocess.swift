import Glibc

/// Runs this program again.
enum Subprocess {
    /// Runs this program with other arguments and waits for its end. Throws if it fails.
    static func run(_ arguments: [String]) throws {
        var pointers = arguments.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var process = pid_t()
        let code = posix_spawn(&process, "/proc/self/exe", nil, nil, &pointers, environ)
        guard code == 0 else { throw Failure("cannot start \(arguments): \(String(cString: strerror(code)))") }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { throw Failure("cannot wait for \(arguments): \(String(cString: strerror(errno)))") }
        }
        guard status == 0 else { throw Failure("step \(arguments.last ?? "") failed (wait status \(status))") }
    }
}

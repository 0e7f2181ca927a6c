import Glibc

/// Runs this program again, or another one.
enum Subprocess {
    /// Runs this program with other arguments and waits for its end. Throws if it fails.
    static func run(itself arguments: [String]) throws { try run("/proc/self/exe", arguments, nil) }

    /// Runs another program, whose name is the first argument, and waits for its end. Its output is discarded. Throws if it fails.
    static func run(_ arguments: [String]) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        try run(arguments[0], arguments, &actions)
    }

    private static func run(
        _ program: String, _ arguments: [String], _ actions: UnsafePointer<posix_spawn_file_actions_t>?
    ) throws {
        var pointers = arguments.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var process = pid_t()
        let code = posix_spawnp(&process, program, actions, nil, &pointers, environ)
        guard code == 0 else { throw Failure("cannot start \(arguments): \(String(cString: strerror(code)))") }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { throw Failure("cannot wait for \(arguments): \(String(cString: strerror(errno)))") }
        }
        guard status == 0 else { throw Failure("\(arguments.joined(separator: " ")) failed (wait status \(status))") }
    }
}

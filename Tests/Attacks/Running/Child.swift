import CambiumBytes
import Foundation

/// A running process of the command line.
struct Child {
    private let arguments: [String]
    private let process: pid_t
    private let output: Int32
    private let errors: Int32

    /// The lock that is held while pipes are made and a process is started, so that no other process inherits the pipes.
    private static let starting = Guarded(())

    /// Starts `program` in `directory` with an empty standard input.
    init(_ program: String, _ arguments: [String], in directory: String) throws {
        self.arguments = arguments
        (process, output, errors) = try Self.starting.withLock { _ in
            let (output, errors) = (try Self.makePipe(), try Self.makePipe())
            defer { for end in [output.write, errors.write] { close(end) } }
            let process = try Self.spawn(program, arguments, in: directory, output: output.write, errors: errors.write)
            return (process, output.read, errors.read)
        }
    }

    private static func spawn(
        _ program: String, _ arguments: [String], in directory: String, output: Int32, errors: Int32
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
        // `env` changes the directory and then executes the program in the same process. Backtraces are off, because one takes seconds.
        let words = ["env", "-i", "-C", directory, "SWIFT_BACKTRACE=enable=no", "PATH=/usr/bin:/bin", "TZ=UTC", program] + arguments
        var pointers = words.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, "/usr/bin/env", &actions, nil, &pointers, environ)
        guard code == 0 else { throw Misuse("\(program) cannot be started: \(String(cString: strerror(code)))") }
        return process
    }

    /// Runs `program` to its end, or kills it after `milliseconds`.
    static func run(_ program: String, _ arguments: [String], in directory: String, milliseconds: Int = 15_000) throws -> Outcome {
        try Child(program, arguments, in: directory).finish(milliseconds: milliseconds)
    }

    /// Reads the whole output of the process and waits for its end. Kills the process if it still runs after `milliseconds`.
    func finish(milliseconds: Int) throws -> Outcome {
        var (outputBytes, errorBytes): ([UInt8], [UInt8]) = ([], [])
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        var open = [output, errors]
        var isLate = false
        while !open.isEmpty {
            let left = ContinuousClock.now.duration(to: end) / .milliseconds(1)
            if left <= 0, !isLate {
                isLate = true
                kill(process, SIGKILL)
            }
            var waits = open.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            poll(&waits, nfds_t(waits.count), isLate ? -1 : Int32(max(1, left)))
            for wait in waits where wait.revents != 0 {
                let bytes = Self.read(wait.fd)
                if wait.fd == output { outputBytes += bytes } else { errorBytes += bytes }
                if bytes.isEmpty { open.removeAll { $0 == wait.fd } }
            }
        }
        for end in [output, errors] { close(end) }
        let status = wait()
        let signal = status & 0x7F
        let ending: Outcome.Ending =
            if signal == SIGKILL, isLate { .killed } else if signal != 0 { .signalled(signal) } else { .exited(status >> 8 & 0xFF) }
        return Outcome(
            arguments: arguments, ending: ending, output: outputBytes, errors: String(decoding: errorBytes, as: UTF8.self))
    }

    private func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }

    /// Returns the bytes that can be read now, and no bytes at the end of the stream.
    private static func read(_ descriptor: Int32) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        var count = 0
        repeat { count = Glibc.read(descriptor, &bytes, bytes.count) } while count < 0 && errno == EINTR
        return Array(bytes.prefix(max(0, count)))
    }

    private static func makePipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw Misuse("a pipe cannot be made: \(String(cString: strerror(errno)))") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }
}

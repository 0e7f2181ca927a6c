import Foundation
import Testing

/// Starts the program `KilledWriter` and waits for its end.
enum WriterProcess {
    /// Starts the program, and returns its process id and a pipe with its output. The pipe is large enough that the program
    /// never waits for a reader.
    ///
    /// - Parameter printed: the descriptor of the program that writes to the pipe.
    static func start(_ arguments: [String], printed: Int32 = STDOUT_FILENO) throws -> (process: pid_t, output: FileHandle) {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        for end in ends { try #require(fcntl(end, F_SETFD, FD_CLOEXEC) == 0) }
        let setPipeSize: Int32 = 1031  // `F_SETPIPE_SZ`, which the C library's module does not export.
        try #require(fcntl(ends[1], setPipeSize, 1 << 20) > 0)
        defer { close(ends[1]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], printed)
        var words = ([program.path] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, program.path, &actions, nil, &words, environ)
        // Without a process id, a signal would go to the tests themselves.
        try #require(code == 0, "\(program.path) cannot be started: \(String(cString: strerror(code)))")
        return (process, FileHandle(fileDescriptor: ends[0], closeOnDealloc: true))
    }

    /// Waits until the program has ended, and returns its status. The status is 0 if the program succeeded. Its lowest seven bits are the
    /// signal that ended the program.
    static func status(of process: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }

    /// The path of the program, in the directory of the tests.
    private static let program: URL = {
        let tests = URL(filePath: CommandLine.arguments[0])
        let sibling = tests.deletingLastPathComponent().appending(path: "KilledWriter")
        if FileManager.default.isExecutableFile(atPath: sibling.path) { return sibling }
        return Bundle.main.bundleURL.deletingLastPathComponent().appending(path: "KilledWriter")
    }()
}

import Cambium
import Foundation
import Testing

/// A process that commits is killed at a random moment, again and again: what it was told is durable is there.
@Suite struct KillTests {
    /// `CAMBIUM_KILLS` is how many times.
    private static let roundCount = ProcessInfo.processInfo.environment["CAMBIUM_KILLS"].flatMap(Int.init) ?? 12

    @Test(arguments: ["synced", "buffered"])
    func `a process that is killed loses nothing that it acknowledged`(durability: String) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "cambium-kill-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }  // What is left of a test is the system's to tidy.
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        var acknowledged = Set<Int64>()
        var (next, largeCount) = (1, 0)
        for round in 0..<Self.roundCount {
            let threadCount = [1, 8][round % 2]
            let told = try kill(directory, first: next, threadCount: threadCount, durability)
            acknowledged.formUnion(told)
            // Numbers that no process has used: what was not acknowledged may be there too.
            next += 1_000_000
            guard FileManager.default.fileExists(atPath: directory.appending(path: "store/store.json").path) else { continue }
            let graph = try ReadOnlyStore(at: directory.appending(path: "store").path).graph
            guard let note = graph.schema.entity("Note") else {
                #expect(acknowledged.isEmpty)
                continue
            }
            let id = graph.column(try note.requiredAttribute("id"))
            let found = Set(graph.objects(of: note).compactMap { graph.place(of: $0).flatMap { id.int(at: $0) } })
            #expect(found.isSuperset(of: acknowledged), "round \(round): \(acknowledged.subtracting(found).sorted()) are lost")
            #expect(found.count == graph.objectCount)
            // A large transaction is there whole or not at all.
            let large = found.filter { $0 > 0 && ($0 % 97 == 0 || $0 % 1_000_000 == 1) }
            largeCount = large.count
            #expect(Set(large.flatMap { number in (0..<40).map { -100 * number - $0 } }) == found.filter { $0 < 0 }, "round \(round)")
        }
        #expect(acknowledged.count > Self.roundCount && largeCount > 0)
        let store = directory.appending(path: "store").path
        #expect(try Verification(of: store).isSound)
        // It can be opened for writing, and closed, as if nothing had happened.
        try Store.open(at: store).close()
        #expect(try Verification(of: store).findings.isEmpty)
        print("\(Self.roundCount) kills, \(durability): \(acknowledged.count) acknowledged commits are there, and \(largeCount) large ones")
    }

    /// Lets the writer work for a random time, kills it, and returns what it had been told by then.
    private func kill(_ directory: URL, first: Int, threadCount: Int, _ durability: String) throws -> Set<Int64> {
        let output = directory.appending(path: "acknowledged")
        try Data().write(to: output)
        let store = directory.appending(path: "store").path
        let process = try spawn([Self.writer.path, store, "\(first)", "\(threadCount)", durability], output: output.path)
        usleep(UInt32.random(in: 2000...120_000))
        Foundation.kill(process, SIGKILL)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        #expect(status & 0x7F == SIGKILL, "the writer ended by itself")
        let lines = try String(contentsOf: output, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
        // Behind the last line feed there may be a part of a line.
        return Set(lines.dropLast().compactMap { Int64($0) })
    }

    /// Starts a program that writes to a file, and returns its number.
    private func spawn(_ arguments: [String], output: String) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_APPEND, 0)
        var words = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, arguments[0], &actions, nil, &words, environ)
        #expect(code == 0, "\(arguments[0]) cannot be started: \(String(cString: strerror(code)))")
        return process
    }

    /// Beside the tests.
    private static let writer: URL = {
        let tests = URL(filePath: CommandLine.arguments[0])
        let beside = tests.deletingLastPathComponent().appending(path: "KilledWriter")
        if FileManager.default.isExecutableFile(atPath: beside.path) { return beside }
        return Bundle.main.bundleURL.deletingLastPathComponent().appending(path: "KilledWriter")
    }()
}

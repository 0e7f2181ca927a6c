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
        var next = 1
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
        }
        #expect(acknowledged.count > Self.roundCount)
        let store = directory.appending(path: "store").path
        #expect(try Verification(of: store).isSound)
        // It can be opened for writing, and closed, as if nothing had happened.
        try Store.open(at: store).close()
        #expect(try Verification(of: store).findings.isEmpty)
        print("\(Self.roundCount) kills, \(durability): \(acknowledged.count) acknowledged commits are there")
    }

    /// Lets the writer work for a random time, kills it, and returns what it had been told by then.
    private func kill(_ directory: URL, first: Int, threadCount: Int, _ durability: String) throws -> Set<Int64> {
        let output = directory.appending(path: "acknowledged")
        try Data().write(to: output)
        let process = Process()
        process.executableURL = Self.writer
        process.arguments = [directory.appending(path: "store").path, "\(first)", "\(threadCount)", durability]
        process.standardOutput = try FileHandle(forWritingTo: output)
        try process.run()
        usleep(UInt32.random(in: 2000...120_000))
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL, "the writer ended by itself")
        let lines = try String(contentsOf: output, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
        // Behind the last line feed there may be a part of a line.
        return Set(lines.dropLast().compactMap { Int64($0) })
    }

    /// Beside the tests.
    private static let writer: URL = {
        let tests = URL(filePath: CommandLine.arguments[0])
        let beside = tests.deletingLastPathComponent().appending(path: "KilledWriter")
        if FileManager.default.isExecutableFile(atPath: beside.path) { return beside }
        return Bundle.main.bundleURL.deletingLastPathComponent().appending(path: "KilledWriter")
    }()
}

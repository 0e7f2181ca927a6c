import Cambium
import CambiumTesting
import Foundation
import Testing

/// A process that commits is killed at random moments, again and again. Every commit that was reported as durable must survive.
@Suite struct KillTests {
    /// The number of kills that `CAMBIUM_TEST` sets, or `nil` in the fast tests.
    private static let givenCount = TestSettings.number("kills")
    private static let roundCount = givenCount ?? 4
    /// The longest time before a kill, in microseconds. Each later process replays what a writer commits in this time.
    private static let delayMax: UInt32 = givenCount == nil ? 40_000 : 120_000

    @Test(arguments: ["synced", "buffered"])
    func `a killed process loses no commit that it acknowledged`(durability: String) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "cambium-kill-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }  // A failure is harmless: the directory is temporary.
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        var acknowledged = Set<Int64>()
        var (next, largeCount) = (1, 0)
        for round in 0..<Self.roundCount {
            let threadCount = [1, 8][round % 2]
            let numbers = try kill(directory, first: next, threadCount: threadCount, durability, atOnce: round % 4 == 0)
            acknowledged.formUnion(numbers)
            // The next process uses fresh numbers, because commits without an acknowledgement may have survived, too.
            next += 1_000_000
            let graph: Graph
            do {
                graph = try ReadOnlyStore(at: directory.appending(path: "store").path).graph
            } catch let error as CambiumError where error.code == .notFound {
                // The creation of the store was interrupted.
                #expect(acknowledged.isEmpty)
                continue
            }
            let note = try graph.schema.required("Note")
            let id = graph.column(try note.requiredAttribute("id"))
            let found = Set(graph.objects(of: note).compactMap { graph.place(of: $0).flatMap { id.int(at: $0) } })
            #expect(found.isSuperset(of: acknowledged), "round \(round): \(acknowledged.subtracting(found).sorted()) are lost")
            #expect(found.count == graph.objectCount)
            // A large transaction survives as a whole or not at all.
            let large = found.filter { $0 > 0 && ($0 % 97 == 0 || $0 % 1_000_000 == 1) }
            largeCount = large.count
            #expect(Set(large.flatMap { number in (0..<40).map { -100 * number - $0 } }) == found.filter { $0 < 0 }, "round \(round)")
        }
        // Processes that are not killed at once acknowledge at least one commit.
        #expect(acknowledged.count >= Self.roundCount * 3 / 4 && (largeCount > 0 || Self.roundCount < 3))
        let store = directory.appending(path: "store").path
        #expect(try Store.verify(at: store).isSound)
        // After the kills, the store can be opened for writing and closed without a finding.
        try Store.open(at: store).close()
        #expect(try Store.verify(at: store).findings.isEmpty)
        print("\(Self.roundCount) kills, \(durability): \(acknowledged.count) acknowledged commits and \(largeCount) large ones survived")
    }

    /// Lets the writer work for a random time, kills it, and returns the numbers that it acknowledged. The time begins with the
    /// first acknowledgement. With `atOnce` the time begins with the start of the process, so the kill may also hit the creation or
    /// the opening of the store.
    private func kill(_ directory: URL, first: Int, threadCount: Int, _ durability: String, atOnce: Bool) throws -> Set<Int64> {
        let store = directory.appending(path: "store").path
        let (process, output) = try WriterProcess.start([store, "\(first)", "\(threadCount)", durability])
        var printed = atOnce ? Data() : output.availableData
        usleep(UInt32.random(in: 2000...Self.delayMax))
        Foundation.kill(process, SIGKILL)
        printed += try output.readToEnd() ?? Data()
        #expect(WriterProcess.status(of: process) & 0x7F == SIGKILL, "the writer ended by itself")
        let lines = String(decoding: printed, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        // The text after the last line feed may be an incomplete line.
        return Set(lines.dropLast().compactMap { Int64($0) })
    }
}

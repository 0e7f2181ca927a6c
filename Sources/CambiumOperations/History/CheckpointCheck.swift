internal import CambiumBytes
import CambiumGraph
internal import CambiumLog
import CambiumModel

/// Compares checkpoints with the graphs that a replay of the log has produced.
struct CheckpointCheck: Sendable {
    let reader: LogReader
    /// The graphs of the log, by their transactions.
    let graphs: [TransactionNumber: ExpectedGraph]
    /// The last transaction of the log that was replayed.
    let last: TransactionNumber
    /// The times of transactions in the log, as far as they are known.
    let times: [TransactionNumber: Timestamp]
    /// The transaction with which the replay began. The log after an earlier checkpoint was retired.
    let retiredEnd: TransactionNumber
    /// The checkpoint before which the log was retired and no checkpoint is left; `nil` if the log is whole.
    let oldest: TransactionNumber?

    /// The remedy if a checkpoint is corrupt, the log before it was retired, and there is no older checkpoint.
    private static let remedyWithoutLog = "Open the store again to use a later checkpoint."
    /// Two checkpoints are checked at the same time if the pages of the newest one take this number of bytes. A smaller checkpoint does not
    /// repay a thread, and of larger ones only one is in memory.
    private static let concurrentByteCounts = 1 << 20...64 << 20

    private struct State {
        var next = 0
        var results: [Result<[String], any Error>?]
    }

    /// Checks checkpoints, two at the same time if they are neither small nor large. Returns the corruption as sentences, in the order of
    /// the checkpoints.
    ///
    /// Throws `.ioFailure` if a checkpoint cannot be read.
    ///
    /// - Parameter threadCount: the number of threads, 1 or 2; `nil` if it follows from the size of the checkpoints.
    func findings(of numbers: [TransactionNumber], threadCount: Int? = nil) throws -> [String] {
        let state = Guarded(State(results: Array(repeating: nil, count: numbers.count)))
        let work: @Sendable () -> Void = {
            func takeNext() -> Int? {
                state.withLock { state in
                    defer { state.next += 1 }
                    return state.next < numbers.count ? state.next : nil
                }
            }
            while let index = takeNext() {
                let result = Result { try findings(of: numbers[index]) }
                state.withLock { $0.results[index] = result }
            }
        }
        let thread = (threadCount ?? self.threadCount(numbers)) > 1 ? DedicatedThread(work) : nil
        work()
        thread?.join()
        return try state.withLock { $0.results }.flatMap { try $0?.get() ?? [] }
    }

    private func threadCount(_ numbers: [TransactionNumber]) -> Int {
        // If the record cannot be read, the check of the checkpoint reports the reason.
        guard numbers.count > 1, let root = try? PageFile.root(reader.volume, store: reader.settings.store, numbers[0]) else { return 1 }
        return Self.concurrentByteCounts.contains(root.record.chunks.count { $0.isOwned } * PageFile.chunkByteCount) ? 2 : 1
    }

    /// Compares every chunk of a checkpoint with the checksum of that chunk. Also compares the graph of the checkpoint with the graph of
    /// the log at that moment; if that graph is not known, compares the graphs after the last transaction. Reports a checkpoint whose
    /// position is not in the log.
    private func findings(of number: TransactionNumber) throws -> [String] {
        var findings: [String] = []
        do throws(any Error) {
            var replay = try Replay(LoadedCheckpoint(reader, of: number, checksAll: true))
            // A reader chooses the checkpoint for a requested time by the time in the checkpoint record. Opening the checkpoint compares
            // this time with the log only if the segment is open, because a sealed segment does not repeat the time.
            if let time = times[number], replay.lastTime != time {
                findings.append(
                    "the checkpoint of transaction \(number) states the time \(replay.lastTime), but the log states \(time), so requests "
                        + "for a time may return a wrong graph. Save all intact data with 'cambium repair'")
            }
            if number < retiredEnd {
                // No log leads to the graph, so its invariants and its pages are checked.
                let flaws = replay.timeline.head.invariantFindings() + PageChecker.findings(in: replay.timeline)
                return findings + flaws.map { "the checkpoint of transaction \(number): \($0)" }
            }
            let isKnown = graphs[number] != nil
            let found = isKnown ? ExpectedGraph(replay.timeline.head) : nil
            // A replay of the next transaction shows whether the log continues where the checkpoint ends.
            if isKnown, number < last {
                _ = try replay.run(reader, to: EarlierMoment(number: number.next)) {}
            } else {
                _ = try replay.run(makesDurable: true) { $0.number > last }
            }
            if (found ?? ExpectedGraph(replay.timeline.head)) != graphs[isKnown ? number : last] {
                findings.append("the checkpoint of transaction \(number) leads to a different graph from that of the log")
            }
        } catch let error as CambiumError where error.code == .corrupted {
            let (text, remedy) = (error.description, CambiumError.checkpointRemedy)
            let reason = number == oldest ? text.replacing(remedy, with: Self.remedyWithoutLog) : text
            findings.append("the checkpoint of transaction \(number): \(reason)")
        } catch let error as CambiumError where error.code == .notFound {
            return []  // A writer has dropped the checkpoint.
        }
        return findings
    }
}

/// The graph that a replay of the log produces. A checkpoint of the same transaction must have the same graph.
struct ExpectedGraph: Equatable {
    let digest: GraphDigest
    let nextSerials: [EntityNumber: UInt64]

    init(_ graph: Graph, digest: GraphDigest? = nil) {
        self.digest = digest ?? graph.digest()
        nextSerials = graph.nextSerials
    }
}

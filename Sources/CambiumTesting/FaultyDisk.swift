internal import CambiumLog
internal import CambiumModel

/// The state of a `FaultyVolume`: its files, its directories, and the faults that a test has requested.
struct FaultyDisk: Sendable {
    var files: [FaultyContent] = []
    /// The index of each file in `files`, by path. `live` has the paths that the process sees, and `durable` has the paths that survive a
    /// power failure.
    private(set) var live: [String: Int] = [:]
    private var durable: [String: Int] = [:]
    /// Directory changes that are not yet durable. Each change maps a path to the index of a file, or to `nil` if the change removes the
    /// path.
    private var pending: [[String: Int?]] = []

    private(set) var operationCount = 0
    var crashOperation: Int? { didSet { if oldValue == nil { hasFailed = false } } }
    var failure: (operation: Int, code: Int32)? { didSet { if crashOperation == nil { hasFailed = false } } }
    private(set) var readCount = 0
    var readFailure: (read: Int, code: Int32)? { didSet { if crashOperation == nil { hasFailed = false } } }
    /// Whether the most recently requested fault has happened. After a crash, the value stays `true` until `recover` simulates the start of
    /// another process.
    private(set) var hasFailed = false

    init(_ contents: [String: [UInt8]] = [:]) {
        for (path, bytes) in contents {
            live[path] = files.count
            files.append(FaultyContent(bytes))
        }
        durable = live
    }

    var liveContents: [String: [UInt8]] { live.mapValues { files[$0].live } }

    /// Counts an operation. Throws if the test has requested that this operation fails.
    mutating func begin() throws(CambiumError) {
        defer { operationCount += 1 }
        if let crashOperation, operationCount >= crashOperation {
            if !hasFailed { for number in files.indices { files[number].releaseWindows() } }
            hasFailed = true
            throw CambiumError(.ioFailure, "The process has died.")
        }
        if let failure, failure.operation == operationCount {
            hasFailed = true
            throw CambiumError(.ioFailure, "The disk refused the operation.", underlying: SystemError(code: failure.code))
        }
    }

    /// Counts a call that changes nothing. Throws if the test has requested that this call fails.
    mutating func beginRead() throws(CambiumError) {
        defer { readCount += 1 }
        guard let readFailure, readFailure.read == readCount else { return }
        hasFailed = true
        throw CambiumError(.ioFailure, "The simulated disk failed to read.", underlying: SystemError(code: readFailure.code))
    }

    mutating func recover() {
        crashOperation = nil
        failure = nil
        readFailure = nil
        hasFailed = false
    }

    mutating func create(_ path: String) -> Int {
        files.append(FaultyContent([]))
        change([path: files.count - 1])
        return files.count - 1
    }

    mutating func change(_ entries: [String: Int?]) {
        for (path, number) in entries { live[path] = number }
        pending.append(entries)
    }

    mutating func syncDirectory(_ directory: String) {
        var rest: [[String: Int?]] = []
        for change in pending {
            if change.keys.contains(where: { Self.parent($0) == directory }) {
                for (path, number) in change { durable[path] = number }
            } else {
                rest.append(change)
            }
        }
        pending = rest
    }

    private static func parent(_ path: String) -> String {
        path.split(separator: "/").dropLast().joined(separator: "/")
    }

    /// Returns the files that a power failure may leave.
    func image(_ random: inout SplitMix64) -> [String: [UInt8]] {
        var entries = durable
        for change in pending where Bool.random(using: &random) {
            for (path, number) in change { entries[path] = number }
        }
        // Sorts the paths, so that the same seed always results in the same files.
        var image: [String: [UInt8]] = [:]
        for path in entries.keys.sorted() { image[path] = entries[path].map { files[$0].image(&random) } }
        return image
    }
}

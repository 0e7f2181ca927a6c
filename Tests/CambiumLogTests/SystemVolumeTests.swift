import CambiumModel
import Foundation
import Synchronization
import Testing

@testable import CambiumLog

@Suite struct SystemVolumeTests {
    /// Calls `body` with a volume in a new directory, and removes the directory afterwards.
    func inDirectory(_ calls: SystemCalls = .system, _ body: (SystemVolume) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "cambium-volume-\(UUID().uuidString)").path
        let volume = SystemVolume(root: directory, calls: calls)
        try SystemVolume(root: directory).createDirectory("log")
        defer { try? FileManager.default.removeItem(atPath: directory) }  // A failure is harmless: the directory is temporary.
        try body(volume)
    }

    /// Returns system calls that a signal interrupts `times` times before each call is made.
    private func interrupted(_ times: Int, counting count: Counter) -> SystemCalls {
        let rounds = Counter()
        @Sendable func isInterrupted() -> Bool {
            guard rounds.add(1) % (times + 1) < times else { return false }
            count.add(1)
            errno = EINTR
            return true
        }
        var calls = SystemCalls()
        calls.open = { isInterrupted() ? -1 : SystemCalls.system.open($0, $1, $2) }
        calls.flock = { isInterrupted() ? -1 : SystemCalls.system.flock($0, $1) }
        calls.pread = { isInterrupted() ? -1 : SystemCalls.system.pread($0, $1, $2, $3) }
        calls.pwrite = { isInterrupted() ? -1 : SystemCalls.system.pwrite($0, $1, $2, $3) }
        calls.ftruncate = { isInterrupted() ? -1 : SystemCalls.system.ftruncate($0, $1) }
        calls.fdatasync = { isInterrupted() ? -1 : SystemCalls.system.fdatasync($0) }
        calls.fsync = { isInterrupted() ? -1 : SystemCalls.system.fsync($0) }
        return calls
    }

    /// System calls that read and write at most one byte at a time.
    private var slow: SystemCalls {
        var calls = SystemCalls()
        calls.pread = { SystemCalls.system.pread($0, $1, min($2, 1), $3) }
        calls.pwrite = { SystemCalls.system.pwrite($0, $1, min($2, 1), $3) }
        return calls
    }

    /// Uses every call, and checks the result without any of them.
    private func use(_ volume: SystemVolume) throws {
        let content: [UInt8] = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let file = try volume.open("log/file", .create)
        try file.write(content, at: 100)
        try file.sync()
        try file.truncate(to: 900)
        try volume.syncDirectory("log")
        #expect(try file.byteCount() == 900)
        let expected = [UInt8](repeating: 0, count: 100) + content.prefix(800)
        #expect(try file.read(at: 0, count: 2000) == expected && file.read(at: 150, count: 20) == Array(expected[150..<170]))
        #expect(try file.read(at: 900, count: 1).isEmpty && file.read(at: 5000, count: 1).isEmpty)
        file.close()
        #expect(try Data(contentsOf: URL(filePath: volume.root + "/log/file")) == Data(expected))
        try volume.lock("lock").unlock()
        try volume.share("log/file").unlock()
        #expect(try volume.list("log") == ["file"] && !volume.isShared("log/file"))
        #expect(try volume.removeUnlessShared("log/file") && volume.list("log").isEmpty)
    }

    @Test func `a file is written, synced, truncated and read without interruptions`() throws { try inDirectory { try use($0) } }

    @Test func `reads and writes are complete even if the system takes one byte at a time`() throws {
        try inDirectory(slow) { try use($0) }
    }

    @Test(arguments: [1, 2, 100])
    func `a call that a signal interrupts is repeated until it succeeds`(times: Int) throws {
        let count = Counter()
        try inDirectory(interrupted(times, counting: count)) { try use($0) }
        #expect(count.value >= 18 * times)
    }

    @Test func `a write of which the system takes no byte is an error`() throws {
        var calls = SystemCalls()
        calls.pwrite = { SystemCalls.system.pwrite($0, $1, $3 < 10 ? min($2, 10) : 0, $3) }
        try inDirectory(calls) { volume in
            let file = try volume.open("file", .create)
            let error = #expect(throws: CambiumError.self) { try file.write([UInt8](repeating: 1, count: 20), at: 0) }
            #expect(error?.code == .ioFailure && (error?.underlying as? SystemError)?.code == EIO)
            #expect(try file.byteCount() == 10)
            try file.write([], at: 0)
        }
    }

    @Test(arguments: [ENOSPC, EDQUOT, EIO])
    func `a refused call is reported with its error number, even after a partial write`(code: Int32) throws {
        var calls = SystemCalls()
        calls.pwrite = { descriptor, bytes, count, offset in
            if offset >= 7 { errno = code }
            return offset >= 7 ? -1 : SystemCalls.system.pwrite(descriptor, bytes, min(count, 7), offset)
        }
        calls.pread = { _, _, _, _ in
            errno = code
            return -1
        }
        @Sendable func refuse() -> Int32 {
            errno = code
            return -1
        }
        calls.ftruncate = { _, _ in refuse() }
        calls.fdatasync = { _ in refuse() }
        calls.fsync = { _ in refuse() }
        try inDirectory(calls) { volume in
            let file = try volume.open("file", .create)
            let attempts: [() throws -> Void] = [
                { try file.write([UInt8](repeating: 1, count: 20), at: 0) }, { _ = try file.read(at: 0, count: 1) },
                { try file.truncate(to: 1) }, { try file.sync() }, { try volume.syncDirectory("log") },
            ]
            for (number, attempt) in attempts.enumerated() {
                let error = #expect(throws: CambiumError.self) { try attempt() }
                #expect(error?.code == .ioFailure && error?.isOutOfSpace == (code != EIO), "call \(number)")
                #expect((error?.underlying as? SystemError)?.code == code, "call \(number)")
            }
            #expect(try file.byteCount() == 7)
        }
    }

    @Test func `a file system that never changes need not support syncs`() throws {
        @Sendable func refuse(_ code: Int32) -> Int32 {
            errno = code
            return -1
        }
        var calls = SystemCalls()
        calls.fdatasync = { _ in refuse(EINVAL) }
        try inDirectory { base in
            try base.create("file", [1])
            func sync() throws { try SystemVolume(root: base.root, calls: calls).open("file", .read).sync() }
            #expect(throws: CambiumError.self) { try sync() }
            calls.isOnReadOnlyFileSystem = { _ in true }
            try sync()
            calls.fdatasync = { _ in refuse(EIO) }
            #expect(throws: CambiumError.self) { try sync() }
        }
    }

    @Test func `a new directory and the new directories above it are durable once they are created`() throws {
        let synced = Counter()
        var calls = SystemCalls()
        calls.fsync = { descriptor in
            synced.add(1)
            return SystemCalls.system.fsync(descriptor)
        }
        try inDirectory { base in
            let volume = SystemVolume(root: base.root + "/some/place", calls: calls)
            try volume.createDirectory("log")
            #expect(synced.value == 3)
            try volume.createDirectory("log")
            #expect(try synced.value == 3 && volume.exists("log"))
            try volume.syncDirectory("log")
            #expect(synced.value == 4)
        }
        calls.fsync = { _ in
            errno = EIO
            return -1
        }
        try inDirectory { base in
            let error = #expect(throws: CambiumError.self) { try SystemVolume(root: base.root + "/some", calls: calls).createDirectory("") }
            #expect(error?.code == .ioFailure)
        }
    }

    @Test func `a log is written and read with slow and with interrupted system calls`() throws {
        let count = Counter()
        for calls in [slow, interrupted(3, counting: count), .system] {
            try inDirectory(calls) { volume in
                let settings = StoreSettings(store: [UInt8](0..<16), creationTime: 1000, durability: .synced)
                try LogWriter.create(volume, settings, saltSeed: [UInt8](repeating: 3, count: 16))
                for round in 0..<3 {
                    let reader = try LogReader(volume)
                    let writer = try LogWriter(reader, try reader.scan { _ in }, preallocates: round == 1) {
                        [UInt8](repeating: 4, count: 16)
                    }
                    for number in 0..<5 {
                        let metadata = TransactionMetadata(
                            time: Timestamp(microsecondsSince1970: Int64(2000 + 10 * round + number)), actor: "actor")
                        try writer.stage(metadata, EncodedOps([UInt8](repeating: UInt8(number), count: 100)))
                        try writer.write()
                    }
                    try writer.close()
                }
                var times: [Int64] = []
                let expected: [Int64] = [2000, 2001, 2002, 2003, 2004, 2010, 2011, 2012, 2013, 2014, 2020, 2021, 2022, 2023, 2024]
                #expect(
                    try LogReader(SystemVolume(root: volume.root)).scan { times.append($0.metadata.time.microsecondsSince1970) }.verdict
                        == .clean)
                #expect(times == expected)
            }
        }
        #expect(count.value > 100)
    }
}

/// A counter for any thread.
private final class Counter: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }

    /// Adds a number. Returns the previous count.
    @discardableResult
    func add(_ number: Int) -> Int { count.wrappingAdd(number, ordering: .relaxed).oldValue }
}

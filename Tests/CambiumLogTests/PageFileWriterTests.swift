import CambiumBytes
import CambiumModel
import Foundation
import Synchronization
import Testing

@testable import CambiumLog

@Suite struct PageFileWriterTests {
    private static let chunkByteCount = PageFile.chunkByteCount

    /// Calls `body` with a volume in a new directory, and removes the directory afterwards.
    private func inDirectory(_ calls: SystemCalls = .system, _ body: (SystemVolume) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "cambium-pages-\(UUID().uuidString)").path
        let volume = SystemVolume(root: directory, calls: calls)
        try volume.createDirectory(CheckpointRecord.directory)
        defer { try? FileManager.default.removeItem(atPath: directory) }  // A failure is harmless: the directory is temporary.
        try body(volume)
    }

    @Test func `neighboring chunks are written together as far as they lie in one huge page`() throws {
        let written = Mutex<[[Int]]>([])
        var calls = SystemCalls()
        calls.pwrite = { descriptor, bytes, count, offset in
            written.withLock { $0.append([Int(offset), count].map { $0 / Self.chunkByteCount }) }
            return SystemCalls.system.pwrite(descriptor, bytes, count, offset)
        }
        try inDirectory(calls) { volume in
            var writer = try PageFileWriter(volume, 7, isNamed: false)
            defer { writer.close() }
            let bytes = [UInt8](repeating: 1, count: Self.chunkByteCount)
            _ = try writer.write(Array(20..<70) + [72]) { _, body in bytes.withUnsafeBytes(body) }
        }
        #expect(written.withLock { $0 } == [[20, 12], [32, 32], [64, 6], [72, 1]])
    }

    @Test func `a part of a table does not shorten a file that another thread lengthens at the same time`() throws {
        let byteCount = 10 * Self.chunkByteCount
        let changeCount = Mutex(0)
        let lengthenBeforeSecond = { @Sendable (descriptor: Int32) in
            let isSecond = changeCount.withLock { count in
                count += 1
                return count == 2
            }
            if isSecond { _ = SystemCalls.system.posix_fallocate(descriptor, 0, off_t(byteCount)) }
        }
        var calls = SystemCalls()
        calls.pwrite = { descriptor, bytes, count, offset in
            lengthenBeforeSecond(descriptor)
            return SystemCalls.system.pwrite(descriptor, bytes, count, offset)
        }
        calls.ftruncate = { descriptor, length in
            lengthenBeforeSecond(descriptor)
            return SystemCalls.system.ftruncate(descriptor, length)
        }
        try inDirectory(calls) { volume in
            var writer = try PageFileWriter(volume, 7, isNamed: false)
            defer { writer.close() }
            try writer.write([1, 2, 3], as: 3)
            #expect(try volume.byteCount(of: PageFile.path(7)) == byteCount)
            try writer.write([4], as: 12)
            #expect(try volume.byteCount(of: PageFile.path(7)) == 13 * Self.chunkByteCount)
        }
    }

    @Test func `a file is mapped at a multiple of the size of a huge page`() throws {
        try inDirectory { volume in
            let file = try volume.open("pages", .create)
            defer { file.close() }
            try file.write([UInt8](repeating: 5, count: 3 * Self.chunkByteCount), at: 0)
            for chunkCount in 1...3 {
                let mapping = try #require(try file.map(byteCount: chunkCount * Self.chunkByteCount))
                #expect(UInt(bitPattern: mapping.base) % (2 << 20) == 0)
                #expect(mapping.bytes.allSatisfy { $0 == 5 })
            }
        }
    }

    @Test func `a record is not read beyond the length of the longest record`() throws {
        let (volume, path) = (MemoryVolume(), CheckpointRecord.path(TransactionNumber(rawValue: 1)))
        let bytes = [UInt8](repeating: 7, count: 9000)
        try volume.create(path, bytes)
        #expect(try PageFile.bytes(volume, path) == Array(bytes.prefix(4097)))
    }

    @Test func `a new file of pages never gets the number of an existing one`() throws {
        let volume = MemoryVolume()
        #expect(try PageFile.unusedName(from: 7, in: volume) == 7)
        for name in [7, 8, .max] as [UInt64] { try volume.open(PageFile.path(name), .create).close() }
        #expect(try PageFile.unusedName(from: 7, in: volume) == 9)
        #expect(try PageFile.unusedName(from: .max, in: volume) == 0)
    }
}

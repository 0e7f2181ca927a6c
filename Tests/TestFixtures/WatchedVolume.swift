import Cambium
import CambiumBytes
import CambiumLog
import CambiumModel
import Synchronization

/// Files in memory that record which files are read and how many bytes, and that report writes of pages and listings of the log.
package final class WatchedVolume: OverMemory {
    package let memory: MemoryVolume
    package let readByteCount = Atomic(0)
    package let readPaths = Guarded<Set<String>>([])
    package let onPageWrite = Guarded<(@Sendable () -> Void)?>(nil)
    /// The actions before the next listings of the log, one for each listing.
    package let beforeListing = Guarded<[@Sendable () throws -> Void]>([])

    package init(contents: [String: [UInt8]] = [:]) { memory = MemoryVolume(contents: contents) }

    package var name: String { "watched" }
    package func list(_ directory: String) throws(CambiumError) -> [String] {
        if directory == LogDirectory.name, let body = beforeListing.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            do { try body() } catch { throw error as? CambiumError ?? CambiumError(.invalidInput, "\(error)") }
        }
        return try memory.list(directory)
    }
    package func open(_ path: String, _ mode: OpenMode) throws(CambiumError) -> any VolumeFile {
        WatchedFile(file: try memory.open(path, mode), volume: self, path: path)
    }
}

private final class WatchedFile: VolumeFile {
    private let file: any VolumeFile
    private let volume: WatchedVolume
    private let path: String

    init(file: any VolumeFile, volume: WatchedVolume, path: String) {
        self.file = file
        self.volume = volume
        self.path = path
    }

    func byteCount() throws(CambiumError) -> Int { try file.byteCount() }
    func read(at offset: Int, count: Int) throws(CambiumError) -> [UInt8] {
        let bytes = try file.read(at: offset, count: count)
        volume.readByteCount.add(bytes.count, ordering: .relaxed)
        volume.readPaths.withLock { _ = $0.insert(path) }
        return bytes
    }
    func write(_ bytes: [UInt8], at offset: Int) throws(CambiumError) {
        if path.hasPrefix("pages-"), let body = volume.onPageWrite.withLock({ $0 }) { body() }
        try file.write(bytes, at: offset)
    }
    func truncate(to byteCount: Int) throws(CambiumError) { try file.truncate(to: byteCount) }
    func sync() throws(CambiumError) { try file.sync() }
    func close() { file.close() }
}

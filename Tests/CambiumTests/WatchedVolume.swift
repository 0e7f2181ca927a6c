import CambiumBytes
import Synchronization

@testable import Cambium
@testable import CambiumLog

/// Files in memory of which it is counted how many bytes are read, and which tell when pages are written.
final class WatchedVolume: OverMemory {
    let memory: MemoryVolume
    let readByteCount = Atomic(0)
    let onPageWrite = Guarded<(@Sendable () -> Void)?>(nil)

    init(contents: [String: [UInt8]] = [:]) { memory = MemoryVolume(contents: contents) }

    var name: String { "watched" }
    func open(_ path: String, _ mode: OpenMode) throws(CambiumError) -> any VolumeFile {
        WatchedFile(file: try memory.open(path, mode), volume: self, isOfPages: path.hasPrefix("pages-"))
    }
}

private final class WatchedFile: VolumeFile {
    private let file: any VolumeFile
    private let volume: WatchedVolume
    private let isOfPages: Bool

    init(file: any VolumeFile, volume: WatchedVolume, isOfPages: Bool) {
        self.file = file
        self.volume = volume
        self.isOfPages = isOfPages
    }

    func byteCount() throws(CambiumError) -> Int { try file.byteCount() }
    func read(at offset: Int, count: Int) throws(CambiumError) -> [UInt8] {
        let bytes = try file.read(at: offset, count: count)
        volume.readByteCount.add(bytes.count, ordering: .relaxed)
        return bytes
    }
    func write(_ bytes: [UInt8], at offset: Int) throws(CambiumError) {
        if isOfPages, let body = volume.onPageWrite.withLock({ $0 }) { body() }
        try file.write(bytes, at: offset)
    }
    func truncate(to byteCount: Int) throws(CambiumError) { try file.truncate(to: byteCount) }
    func sync() throws(CambiumError) { try file.sync() }
    func close() { file.close() }
}

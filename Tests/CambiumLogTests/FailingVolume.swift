import CambiumLog
import CambiumModel
import Synchronization

/// A volume that refuses to write while it is full.
final class FailingVolume: Volume {
    private let volume: MemoryVolume
    let isFull = Atomic(false)

    init(_ volume: MemoryVolume) { self.volume = volume }

    var name: String { volume.name }
    func open(_ path: String, _ mode: OpenMode) throws(CambiumError) -> any VolumeFile {
        FailingFile(file: try volume.open(path, mode), volume: self)
    }
    func list(_ directory: String) throws(CambiumError) -> [String] { try volume.list(directory) }
    func exists(_ path: String) throws(CambiumError) -> Bool { try volume.exists(path) }
    func remove(_ path: String) throws(CambiumError) { try volume.remove(path) }
    func rename(_ path: String, to newPath: String) throws(CambiumError) { try volume.rename(path, to: newPath) }
    func createDirectory(_ path: String) throws(CambiumError) { try volume.createDirectory(path) }
    func syncDirectory(_ path: String) throws(CambiumError) { try volume.syncDirectory(path) }
    func lock(_ path: String) throws(CambiumError) -> any VolumeLock { try volume.lock(path) }
    func share(_ path: String) throws(CambiumError) -> any VolumeLock { try volume.share(path) }
    func isShared(_ path: String) throws(CambiumError) -> Bool { try volume.isShared(path) }
    func removeUnlessShared(_ path: String) throws(CambiumError) -> Bool { try volume.removeUnlessShared(path) }
    func renameUnlessShared(_ path: String, to newPath: String) throws(CambiumError) -> Bool {
        try volume.renameUnlessShared(path, to: newPath)
    }
}

final class FailingFile: VolumeFile {
    private let file: any VolumeFile
    private let volume: FailingVolume

    init(file: any VolumeFile, volume: FailingVolume) {
        self.file = file
        self.volume = volume
    }

    func byteCount() throws(CambiumError) -> Int { try file.byteCount() }
    func read(at offset: Int, count: Int) throws(CambiumError) -> [UInt8] { try file.read(at: offset, count: count) }
    func write(_ bytes: [UInt8], at offset: Int) throws(CambiumError) {
        if volume.isFull.load(ordering: .relaxed) { throw CambiumError(.ioFailure, "No space left on device.") }
        try file.write(bytes, at: offset)
    }
    func truncate(to byteCount: Int) throws(CambiumError) { try file.truncate(to: byteCount) }
    func sync() throws(CambiumError) { try file.sync() }
    func close() { file.close() }
}

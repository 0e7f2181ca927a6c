import CambiumModel

@testable import CambiumLog

/// A volume of files in memory that changes some operations for a test and forwards all others.
protocol OverMemory: Volume {
    var memory: MemoryVolume { get }
}

extension OverMemory {
    func list(_ directory: String) throws(CambiumError) -> [String] { try memory.list(directory) }
    func exists(_ path: String) throws(CambiumError) -> Bool { try memory.exists(path) }
    func remove(_ path: String) throws(CambiumError) { try memory.remove(path) }
    func rename(_ path: String, to newPath: String) throws(CambiumError) { try memory.rename(path, to: newPath) }
    func createDirectory(_ path: String) throws(CambiumError) {}
    func syncDirectory(_ path: String) throws(CambiumError) {}
    func lock(_ path: String) throws(CambiumError) -> any VolumeLock { try memory.lock(path) }
    func share(_ path: String) throws(CambiumError) -> any VolumeLock { try memory.share(path) }
    func isShared(_ path: String) throws(CambiumError) -> Bool { try memory.isShared(path) }
    func removeUnlessShared(_ path: String) throws(CambiumError) -> Bool { try memory.removeUnlessShared(path) }
    func renameUnlessShared(_ path: String, to newPath: String) throws(CambiumError) -> Bool {
        try memory.renameUnlessShared(path, to: newPath)
    }
}

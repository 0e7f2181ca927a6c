import CambiumLog
import CambiumModel

/// A volume of files in memory that changes some operations for a test and forwards all others.
package protocol OverMemory: Volume {
    var memory: MemoryVolume { get }
}

extension OverMemory {
    package func list(_ directory: String) throws(CambiumError) -> [String] { try memory.list(directory) }
    package func exists(_ path: String) throws(CambiumError) -> Bool { try memory.exists(path) }
    package func remove(_ path: String) throws(CambiumError) { try memory.remove(path) }
    package func rename(_ path: String, to newPath: String) throws(CambiumError) { try memory.rename(path, to: newPath) }
    package func createDirectory(_ path: String) throws(CambiumError) {}
    package func syncDirectory(_ path: String) throws(CambiumError) {}
    package func lock(_ path: String) throws(CambiumError) -> any VolumeLock { try memory.lock(path) }
    package func share(_ path: String) throws(CambiumError) -> any VolumeLock { try memory.share(path) }
    package func isShared(_ path: String) throws(CambiumError) -> Bool { try memory.isShared(path) }
    package func removeUnlessShared(_ path: String) throws(CambiumError) -> Bool { try memory.removeUnlessShared(path) }
    package func renameUnlessShared(_ path: String, to newPath: String) throws(CambiumError) -> Bool {
        try memory.renameUnlessShared(path, to: newPath)
    }
}

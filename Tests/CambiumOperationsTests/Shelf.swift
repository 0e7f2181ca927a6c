import CambiumLog
import CambiumModel

/// A directory of a volume that is used as a volume of its own. Several shelves on one volume share the effects of a crash.
struct Shelf: Volume {
    private let base: any Volume
    private let directory: String
    /// Whether the shelf's files can have second names on other shelves.
    private let links: Bool
    private let locks = MemoryVolume()

    init(_ base: any Volume, _ directory: String, links: Bool = false) {
        self.base = base
        self.directory = directory
        self.links = links
    }

    var name: String { directory }

    private func full(_ path: String) -> String { path.isEmpty ? directory : directory + "/" + path }

    func open(_ path: String, _ mode: OpenMode) throws(CambiumError) -> any VolumeFile { try base.open(full(path), mode) }
    func list(_ directory: String) throws(CambiumError) -> [String] { try base.list(full(directory)) }
    func exists(_ path: String) throws(CambiumError) -> Bool { try base.exists(full(path)) }
    func remove(_ path: String) throws(CambiumError) { try base.remove(full(path)) }
    func rename(_ path: String, to newPath: String) throws(CambiumError) { try base.rename(full(path), to: full(newPath)) }
    func link(_ path: String, into other: any Volume, as newPath: String) throws(CambiumError) -> Bool {
        guard links, let other = other as? Shelf else { return false }
        return try base.link(full(path), into: other.base, as: other.full(newPath))
    }
    func createDirectory(_ path: String) throws(CambiumError) { try base.createDirectory(full(path)) }
    func syncDirectory(_ path: String) throws(CambiumError) { try base.syncDirectory(full(path)) }
    func lock(_ path: String) throws(CambiumError) -> any VolumeLock { try locks.lock(path) }
    func share(_ path: String) throws(CambiumError) -> any VolumeLock { try base.share(full(path)) }
    func isShared(_ path: String) throws(CambiumError) -> Bool { try base.isShared(full(path)) }
    func removeUnlessShared(_ path: String) throws(CambiumError) -> Bool { try base.removeUnlessShared(full(path)) }
    func renameUnlessShared(_ path: String, to newPath: String) throws(CambiumError) -> Bool {
        try base.renameUnlessShared(full(path), to: full(newPath))
    }
}

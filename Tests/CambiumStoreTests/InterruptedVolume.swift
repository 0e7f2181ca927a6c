import CambiumBytes
import CambiumModel
import TestFixtures

@testable import CambiumLog

/// A volume in which a writer intervenes once while another process opens a checkpoint.
final class InterruptedVolume: Volume {
    /// The moment at which the writer intervenes.
    enum Moment: Sendable { case beforeSharing, afterSharing, beforeOpeningPages }

    private let base: any Volume
    private let moment: Moment
    private let intervention: Guarded<(@Sendable () throws -> Void)?>

    init(_ base: any Volume, _ moment: Moment, _ body: @escaping @Sendable () throws -> Void) {
        (self.base, self.moment) = (base, moment)
        intervention = Guarded(body)
    }

    private func intervene(at moment: Moment) throws(CambiumError) {
        guard moment == self.moment else { return }
        let body = intervention.withLock { body in
            defer { body = nil }
            return body
        }
        do { try body?() } catch { throw CambiumError(.invalidInput, "\(error)") }
    }

    var name: String { base.name }
    func open(_ path: String, _ mode: OpenMode) throws(CambiumError) -> any VolumeFile {
        if path.hasPrefix(PageFile.prefix) { try intervene(at: .beforeOpeningPages) }
        return try base.open(path, mode)
    }
    func share(_ path: String) throws(CambiumError) -> any VolumeLock {
        try intervene(at: .beforeSharing)
        let share = try base.share(path)
        try intervene(at: .afterSharing)
        return share
    }
    func list(_ directory: String) throws(CambiumError) -> [String] { try base.list(directory) }
    func exists(_ path: String) throws(CambiumError) -> Bool { try base.exists(path) }
    func names(_ path: String, _ file: any VolumeFile) throws(CambiumError) -> Bool { try base.names(path, file) }
    func kind(of path: String) throws(CambiumError) -> FileKind? { try base.kind(of: path) }
    func remove(_ path: String) throws(CambiumError) { try base.remove(path) }
    func rename(_ path: String, to newPath: String) throws(CambiumError) { try base.rename(path, to: newPath) }
    func createDirectory(_ path: String) throws(CambiumError) { try base.createDirectory(path) }
    func syncDirectory(_ path: String) throws(CambiumError) { try base.syncDirectory(path) }
    func lock(_ path: String) throws(CambiumError) -> any VolumeLock { try base.lock(path) }
    func isShared(_ path: String) throws(CambiumError) -> Bool { try base.isShared(path) }
    func removeUnlessShared(_ path: String) throws(CambiumError) -> Bool { try base.removeUnlessShared(path) }
    func renameUnlessShared(_ path: String, to newPath: String) throws(CambiumError) -> Bool {
        try base.renameUnlessShared(path, to: newPath)
    }
}

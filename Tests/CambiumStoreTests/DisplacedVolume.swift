import CambiumBytes
import CambiumModel
import TestFixtures

@testable import CambiumLog

/// A volume in memory whose directory seems to be replaced at a moment that a test chooses. The files stay, so that a test finds each file
/// that is changed after that moment.
final class DisplacedVolume: OverMemory {
    /// The moment at which the directory is replaced.
    enum Moment: Sendable { case never, atOnce, atNextCheckpoint }

    let memory: MemoryVolume
    private let moment = Guarded(Moment.never)

    init(contents: [String: [UInt8]] = [:]) { memory = MemoryVolume(contents: contents) }

    /// Replaces the directory at a moment.
    func displace(_ moment: Moment) { self.moment.withLock { $0 = moment } }

    fileprivate var isInPlace: Bool { moment.withLock { $0 != .atOnce } }

    var name: String { memory.name }
    func open(_ path: String, _ mode: OpenMode) throws(CambiumError) -> any VolumeFile { try memory.open(path, mode) }
    func names(_ path: String, _ file: any VolumeFile) throws(CambiumError) -> Bool {
        if !isInPlace { return false }
        return try memory.names(path, file)
    }
    func lock(_ path: String) throws(CambiumError) -> any VolumeLock { Lock(volume: self, base: try memory.lock(path)) }

    /// A checkpoint begins with the directory of the records.
    func createDirectory(_ path: String) throws(CambiumError) {
        moment.withLock { moment in
            guard path == CheckpointRecord.directory, moment == .atNextCheckpoint else { return }
            moment = .atOnce
        }
    }

    private final class Lock: VolumeLock {
        private let volume: DisplacedVolume
        private let base: any VolumeLock

        init(volume: DisplacedVolume, base: any VolumeLock) { (self.volume, self.base) = (volume, base) }

        var isInPlace: Bool { volume.isInPlace }
        func unlock() { base.unlock() }
    }
}

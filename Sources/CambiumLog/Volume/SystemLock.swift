import CambiumBytes
internal import CambiumModel
import Glibc

/// A lock that the kernel releases when its file is closed, at the latest when the process ends.
///
/// The file contains the process id, for messages. A file with any other content is locked, but nothing is written to it.
final class SystemLock: VolumeLock {
    private let file: Guarded<SystemFile?>
    private let isOurs: Bool
    private let identity: FileIdentity
    private let volume: SystemVolume
    /// The path of the file in `volume`.
    private let path: String

    /// - Parameter file: a regular file that is already locked.
    init(file: SystemFile, in volume: SystemVolume, _ path: String) throws(CambiumError) {
        (self.volume, self.path) = (volume, path)
        isOurs = LockHolder.isOne(try file.read(at: 0, count: LockHolder.byteCount + 1))
        if isOurs { try? file.write(LockHolder.bytes(getpid()), at: 0) }  // The lock is valid even if the disk has no space for the id.
        identity = FileIdentity(try file.identity())
        self.file = Guarded(file)
        HeldLocks.insert(identity)
    }

    deinit { unlock() }

    var isInPlace: Bool {
        file.withLock { file in
            guard let file else { return true }
            do throws(CambiumError) {
                return try volume.names(path, file)
            } catch {
                // On NFS, the descriptor is stale after another computer has removed the file. If the file cannot be examined for another
                // reason, it was probably not removed.
                return (error.underlying as? SystemError)?.code != ESTALE
            }
        }
    }

    func unlock() {
        file.withLock { file in
            if file != nil { HeldLocks.remove(identity) }
            if isOurs { try? file?.write(LockHolder.bytes(nil), at: 0) }  // If this fails, the next holder overwrites the id.
            file?.close()
            file = nil
        }
    }
}

/// A shared lock on a file: several threads and processes can have such a lock at the same time. Each lock ends when its holder closes the
/// file.
final class SystemShare: VolumeLock {
    private let file: Guarded<SystemFile?>

    init(file: SystemFile) { self.file = Guarded(file) }

    deinit { unlock() }

    func unlock() {
        file.withLock { file in
            file?.close()
            file = nil
        }
    }
}

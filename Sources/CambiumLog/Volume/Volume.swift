package import CambiumModel

/// A volume: the place that holds the files of a store. A volume separates the log from the operating system: only volumes make system
/// calls.
///
/// Paths are relative to the volume's root and use '/'. Every call throws `CambiumError` (`.ioFailure`, `.notFound`, `.cannotCreate`) with
/// the path and the reason that the operating system reports.
package protocol Volume: Sendable {
    /// The location of the volume, for messages.
    var name: String { get }
    func open(_ path: String, _ mode: OpenMode) throws(CambiumError) -> any VolumeFile
    /// Returns the names in a directory, sorted by their bytes. The result is empty if there is no such directory.
    func list(_ directory: String) throws(CambiumError) -> [String]
    func exists(_ path: String) throws(CambiumError) -> Bool
    /// Whether a path still leads to a file that was opened with this path. Returns `false` after the file or a directory above it was
    /// removed or replaced.
    func names(_ path: String, _ file: any VolumeFile) throws(CambiumError) -> Bool
    /// Returns the kind of the file at a path, or `nil` if there is no such file. Does not follow a symbolic link.
    func kind(of path: String) throws(CambiumError) -> FileKind?
    func remove(_ path: String) throws(CambiumError)
    func rename(_ path: String, to newPath: String) throws(CambiumError)
    /// Creates, in another volume, a hard link to a file of this volume. The new name must not exist yet. Returns `false` if the two
    /// volumes are on different file systems, or if the file system does not support hard links.
    func link(_ path: String, into other: any Volume, as newPath: String) throws(CambiumError) -> Bool
    /// Creates a directory and the missing directories above it, and makes their entries durable. Accepts a directory that exists.
    func createDirectory(_ path: String) throws(CambiumError)
    /// Removes a directory if it is empty. A directory with entries stays.
    func removeDirectory(_ path: String) throws(CambiumError)
    /// Makes the creation, renaming and removal of entries in a directory durable.
    func syncDirectory(_ path: String) throws(CambiumError)
    /// Takes a lock that ends with the process, and writes the process id to the file. Throws `.locked` if this process or another process
    /// holds the lock. The error contains the id of the other process if it is known.
    func lock(_ path: String) throws(CambiumError) -> any VolumeLock
    /// Takes a shared lock on an existing file. Several threads and processes can share the file, and each lock ends with its process.
    /// Throws `.notFound` if the file no longer exists.
    func share(_ path: String) throws(CambiumError) -> any VolumeLock
    /// Whether any thread or process has a shared lock on a file. Returns `false` if there is no such file.
    func isShared(_ path: String) throws(CambiumError) -> Bool
    /// Removes a file, unless a thread or a process has a shared lock on it. In that case returns `false`, and the file stays.
    func removeUnlessShared(_ path: String) throws(CambiumError) -> Bool
    /// Renames a file to replace another file, unless a thread or a process has a shared lock on the other file. In that case returns
    /// `false`, and both files stay.
    func renameUnlessShared(_ path: String, to newPath: String) throws(CambiumError) -> Bool
    /// Opens a new file without a name, which disappears when it is closed. Returns `nil` if the volume does not support such files.
    func openNameless() throws(CambiumError) -> (any VolumeFile)?
    /// Returns the directories above this volume's directory, the innermost first, as volumes. Empty if this volume is not a directory of
    /// the file system.
    func enclosing() throws(CambiumError) -> [any Volume]
    /// Returns the number of bytes that a file takes on disk. The number is less than the file's length if disk space of the file was
    /// released.
    func diskByteCount(of path: String) throws(CambiumError) -> Int
}

extension Volume {
    package func names(_ path: String, _ file: any VolumeFile) throws(CambiumError) -> Bool { true }
    package func link(_ path: String, into other: any Volume, as newPath: String) throws(CambiumError) -> Bool { false }
    package func openNameless() throws(CambiumError) -> (any VolumeFile)? { nil }
    package func enclosing() throws(CambiumError) -> [any Volume] { [] }
    /// The default implementation, for volumes that contain only files, and in which a directory exists only if it contains a file.
    package func kind(of path: String) throws(CambiumError) -> FileKind? {
        guard try exists(path) else { return nil }
        return try list(path).isEmpty ? .regularFile : .directory
    }
    /// The default implementation, for volumes in which a directory exists only if it contains a file.
    package func removeDirectory(_ path: String) throws(CambiumError) {}
    package func diskByteCount(of path: String) throws(CambiumError) -> Int { try byteCount(of: path) }
}

/// The kind of the file to which a name in a directory refers.
package enum FileKind: Sendable {
    case regularFile
    case directory
    /// A symbolic link, a device, a FIFO or a socket. No store contains such a file.
    case other
}

package enum OpenMode: Sendable {
    case read
    /// Reading and writing; the file must exist.
    case update
    /// Reading and writing; the file must not exist.
    case create
}

/// An open file. Only one thread at a time may use it, except that another thread may call `sync` at the same time.
package protocol VolumeFile: AnyObject, Sendable {
    func byteCount() throws(CambiumError) -> Int
    /// Reads up to `count` bytes from `offset`. Returns fewer only at the end of the file.
    func read(at offset: Int, count: Int) throws(CambiumError) -> [UInt8]
    /// Writes all of the bytes.
    func write(_ bytes: [UInt8], at offset: Int) throws(CambiumError)
    /// Changes the length of the file. New bytes are zero.
    func truncate(to byteCount: Int) throws(CambiumError)
    /// Asks the kernel to start writing a part of the file to disk, so that `sync` waits less. Makes nothing durable by itself.
    func beginSync(at offset: Int, count: Int)
    /// Makes the written bytes and the file's length durable before the call returns.
    ///
    /// After a call has failed, every later call on the same object fails, too. The kernel reports a failed sync only once, so another
    /// thread that syncs would otherwise mistake the lost bytes for durable ones. To try again, open the file again and write the bytes
    /// again.
    func sync() throws(CambiumError)
    func close()
    /// Whether both objects have the same file open, even under different names. Returns `false` if the operating system cannot identify
    /// one of the files.
    func isSame(as other: any VolumeFile) -> Bool
    /// Maps the beginning of the file for reading. Returns `nil` if a file of this volume cannot be mapped.
    func map(byteCount: Int) throws(CambiumError) -> FileMapping?
    /// Maps the file from its beginning for reading and writing, possibly beyond its end. The caller must touch only parts that have disk
    /// space. Returns `nil` if a file of this volume cannot be mapped.
    func mapWindow(byteCount: Int) throws(CambiumError) -> FileMapping?
    /// Preallocates disk space for a part of the file. Extends the file if that part lies beyond its end.
    func preallocate(offset: Int, byteCount: Int) throws(CambiumError)
    /// Replaces memory with a mapping of a part of the file, for reading and writing. This part must have disk space. Returns `false` if
    /// the mapping is not possible.
    func replace(_ memory: UnsafeMutableRawPointer, offset: Int, byteCount: Int) -> Bool
    /// Releases the disk space of a part of the file. That part then reads as zeros. Does nothing if the file system cannot release space.
    func discard(offset: Int, byteCount: Int) throws(CambiumError)
}

extension VolumeFile {
    package func beginSync(at offset: Int, count: Int) {}
    package func isSame(as other: any VolumeFile) -> Bool { other === self }
    package func map(byteCount: Int) throws(CambiumError) -> FileMapping? { nil }
    package func mapWindow(byteCount: Int) throws(CambiumError) -> FileMapping? { nil }
    package func preallocate(offset: Int, byteCount: Int) throws(CambiumError) {}
    package func replace(_ memory: UnsafeMutableRawPointer, offset: Int, byteCount: Int) -> Bool { false }
    package func discard(offset: Int, byteCount: Int) throws(CambiumError) {}
}

/// An exclusive or shared lock on a file of a volume.
package protocol VolumeLock: AnyObject, Sendable {
    /// Whether the path of the lock still leads to the locked file. If not, another process can take the lock, too. Returns `true` if the
    /// operating system does not know, or if the lock was released.
    var isInPlace: Bool { get }
    /// Releases the lock. Does nothing if the lock was released earlier.
    func unlock()
}

extension VolumeLock {
    /// The default for locks whose file no other program can remove.
    package var isInPlace: Bool { true }
}

#if canImport(Glibc)
    import Glibc
#endif

extension Volume {
    /// Takes a lock as `lock(_:)` does. While another thread or process holds the lock, pauses and tries again, until the pauses add up to
    /// a limit. Then throws `.locked`.
    ///
    /// The kernel can wait for a lock, but not for a limited time. So the call tries again after 1 ms, and doubles each later pause up to
    /// 50 ms.
    ///
    /// - Parameters:
    ///   - limit: the time for which the call waits; `.zero` or less for one attempt.
    ///   - pause: blocks the calling thread.
    package func lock(
        _ path: String, waitingUpTo limit: Duration, pause: (Duration) -> Void = LockPause.sleep
    ) throws(CambiumError) -> any VolumeLock {
        var (waited, next) = (Duration.zero, LockPause.shortest)
        while true {
            do throws(CambiumError) {
                return try lock(path)
            } catch {
                guard error.code == .locked, waited < limit else { throw error }
            }
            let length = min(next, limit - waited)
            pause(length)
            waited += length
            next = min(next * 2, LockPause.longest)
        }
    }
}

/// The pauses between two attempts to take a lock.
package enum LockPause {
    static let shortest = Duration.milliseconds(1)
    static let longest = Duration.milliseconds(50)

    /// Blocks the calling thread. A signal handler may end the pause early.
    package static func sleep(_ length: Duration) {
        let (seconds, attoseconds) = length.components
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        nanosleep(&time, nil)
    }
}

public import CambiumModel

/// The files of a store: the seam between the log and the system, and the only place that makes system calls.
///
/// Paths are relative to the volume's root and use '/'. Every call throws `CambiumError` (`.ioFailure`, `.notFound`,
/// `.cannotCreate`) with the path and the system's reason.
public protocol Volume: Sendable {
    /// Where the volume is, for messages.
    var name: String { get }
    func open(_ path: String, _ mode: OpenMode) throws(CambiumError) -> any VolumeFile
    /// The names in a directory, sorted by their bytes; none where there is no such directory.
    func list(_ directory: String) throws(CambiumError) -> [String]
    func exists(_ path: String) throws(CambiumError) -> Bool
    /// Whether a path leads to a file that was opened by it: false once the file or a directory above it was removed or replaced.
    func names(_ path: String, _ file: any VolumeFile) throws(CambiumError) -> Bool
    /// What has a name; `nil` if nothing has it. A symbolic link is not followed.
    func kind(of path: String) throws(CambiumError) -> FileKind?
    func remove(_ path: String) throws(CambiumError)
    func rename(_ path: String, to newPath: String) throws(CambiumError)
    /// Gives a file a second name, in another volume, where nothing has that name. False where that cannot be done: the two are not on the
    /// same file system, or it has no second names.
    func link(_ path: String, into other: any Volume, as newPath: String) throws(CambiumError) -> Bool
    /// Makes a directory and those above it, and their entries durable. One that is there is fine.
    func createDirectory(_ path: String) throws(CambiumError)
    /// Removes a directory that is empty. A directory with entries stays.
    func removeDirectory(_ path: String) throws(CambiumError)
    /// Makes entries that were made, renamed or removed in a directory durable.
    func syncDirectory(_ path: String) throws(CambiumError)
    /// Takes a lock that ends with the process, and writes its pid. Throws `.locked` if this process has it already, or another one, whose
    /// pid is in the error if it is known.
    func lock(_ path: String) throws(CambiumError) -> any VolumeLock
    /// Takes a lock on a file that is there and that many may have, and that ends with the process. Throws `.notFound` where there is no
    /// such file any more.
    func share(_ path: String) throws(CambiumError) -> any VolumeLock
    /// Whether somebody shares a file; false where there is none.
    func isShared(_ path: String) throws(CambiumError) -> Bool
    /// Removes a file that nobody shares. False where somebody does: then it stays.
    func removeUnlessShared(_ path: String) throws(CambiumError) -> Bool
    /// Gives a file the name of another one that nobody shares. False where somebody does: then both stay.
    func renameUnlessShared(_ path: String, to newPath: String) throws(CambiumError) -> Bool
    /// A file without a name, which ends when it is closed; nil where the volume has none.
    func openNameless() throws(CambiumError) -> (any VolumeFile)?
    /// The room that a file takes on disk, in bytes: less than its length where parts of it were given back.
    func roomByteCount(of path: String) throws(CambiumError) -> Int
}

extension Volume {
    public func names(_ path: String, _ file: any VolumeFile) throws(CambiumError) -> Bool { true }
    public func link(_ path: String, into other: any Volume, as newPath: String) throws(CambiumError) -> Bool { false }
    public func openNameless() throws(CambiumError) -> (any VolumeFile)? { nil }
    /// For volumes that have files only, and directories as far as files are in them.
    public func kind(of path: String) throws(CambiumError) -> FileKind? {
        guard try exists(path) else { return nil }
        return try list(path).isEmpty ? .regularFile : .directory
    }
    /// For volumes that have no directory without a file.
    public func removeDirectory(_ path: String) throws(CambiumError) {}
    public func roomByteCount(of path: String) throws(CambiumError) -> Int { try byteCount(of: path) }
}

/// What a name in a directory stands for.
public enum FileKind: Sendable {
    case regularFile
    case directory
    /// A symbolic link, a device, a FIFO or a socket: no store has one.
    case other
}

public enum OpenMode: Sendable {
    case read
    /// Reading and writing; the file must be there.
    case update
    /// Reading and writing; the file must not be there.
    case create
}

/// An open file. One thread at a time.
public protocol VolumeFile: AnyObject, Sendable {
    func byteCount() throws(CambiumError) -> Int
    /// Up to `count` bytes from `offset`; fewer only at the end of the file.
    func read(at offset: Int, count: Int) throws(CambiumError) -> [UInt8]
    /// Writes all of the bytes.
    func write(_ bytes: [UInt8], at offset: Int) throws(CambiumError)
    /// Gives the file another length. Zeros are what is new.
    func truncate(to byteCount: Int) throws(CambiumError)
    /// Has the system begin to make a part durable that was written, so that `sync` has less to wait for. It promises nothing.
    func beginSync(at offset: Int, count: Int)
    /// Returns when everything written, and the file's length, are durable.
    func sync() throws(CambiumError)
    func close()
    /// Whether both are open for one file, whatever it is named. False if the system does not say so.
    func isSame(as other: any VolumeFile) -> Bool
    /// Maps the beginning of the file for reading; nil where a file of this volume cannot be mapped.
    func map(byteCount: Int) throws(CambiumError) -> FileMapping?
    /// Maps the file from its beginning for reading and writing, also beyond its end. Only parts that have disk space may be touched.
    /// Returns `nil` if a file of this volume cannot be mapped.
    func mapWindow(byteCount: Int) throws(CambiumError) -> FileMapping?
    /// Takes room on disk for a part of the file, which is as long as it has to be from then on.
    func takeRoom(offset: Int, byteCount: Int) throws(CambiumError)
    /// Maps a part of the file, which has room, for reading and writing in the place of memory. False where that cannot be done.
    func replace(_ memory: UnsafeMutableRawPointer, offset: Int, byteCount: Int) -> Bool
    /// Gives back the room on disk of a part of the file, which reads as zeros then, where the system can.
    func discard(offset: Int, byteCount: Int) throws(CambiumError)
}

extension VolumeFile {
    public func beginSync(at offset: Int, count: Int) {}
    public func isSame(as other: any VolumeFile) -> Bool { other === self }
    public func map(byteCount: Int) throws(CambiumError) -> FileMapping? { nil }
    public func mapWindow(byteCount: Int) throws(CambiumError) -> FileMapping? { nil }
    public func takeRoom(offset: Int, byteCount: Int) throws(CambiumError) {}
    public func replace(_ memory: UnsafeMutableRawPointer, offset: Int, byteCount: Int) -> Bool { false }
    public func discard(offset: Int, byteCount: Int) throws(CambiumError) {}
}

public protocol VolumeLock: AnyObject, Sendable {
    /// Gives the lock up; nothing where that was done before.
    func unlock()
}

internal import CMachine
import CambiumBytes
package import CambiumModel
import Glibc

/// The identity of a file of the operating system, which is the same for all paths that lead to the file.
struct FileIdentity: Hashable {
    let device: UInt64
    let number: UInt64

    init(_ identity: cmachine_identity_t) {
        device = identity.device
        number = identity.number
    }
}

/// The lock files that this process has locked. They distinguish the locks of this process from the locks of other processes. Process ids
/// are not enough: two processes in different containers may have the same id.
enum HeldLocks {
    private static let identities = Guarded<Set<FileIdentity>>([])

    static func insert(_ identity: FileIdentity) { identities.withLock { _ = $0.insert(identity) } }
    static func remove(_ identity: FileIdentity) { identities.withLock { _ = $0.remove(identity) } }
    static func has(_ identity: FileIdentity) -> Bool { identities.withLock { $0.contains(identity) } }
}

extension SystemVolume {
    package func names(_ path: String, _ file: any VolumeFile) throws(CambiumError) -> Bool {
        guard let file = file as? SystemFile else { return false }
        let opened = try file.identity()
        if opened.nameCount == 0 { return false }
        // If the working directory was removed, the root is a relative path. Such a path may lead to another file after the process has
        // changed its working directory, so the path is not checked.
        guard Self.isAbsolute(root) else { return true }
        let path = full(path)
        var found = cmachine_identity_t()
        if cmachine_identity(-1, path, &found) == 0 { return FileIdentity(found) == FileIdentity(opened) }
        let code = errno
        if code == ENOENT || code == ENOTDIR { return false }
        throw SystemFailure.error("find", path, code)
    }
}

extension SystemFailure {
    /// Returns the error for a lock that is already taken.
    ///
    /// - Parameters:
    ///   - holder: the id of the process that has the lock; `nil` if it is not known.
    ///   - isOwn: whether this process has the lock.
    static func locked(_ path: String, holder: Int32?, isOwn: Bool) -> CambiumError {
        if isOwn {
            return CambiumError(
                .locked, "This process already has the store open for writing. Use the store that is open, or close it first.",
                place: .init(file: path))
        }
        // If the id equals the id of this process, the holder is a process in another container. The id would mislead the user.
        let pid = holder.flatMap { $0 == getpid() ? nil : " (process \($0))" } ?? ""
        return CambiumError(
            .locked, "Another process\(pid) has the store open for writing. Wait until it ends, or stop it.", place: .init(file: path))
    }
}

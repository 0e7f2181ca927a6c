package import CambiumModel
import Glibc

extension SystemVolume {
    package func lock(_ path: String) throws(CambiumError) -> any VolumeLock {
        while true {
            let descriptor = try descriptor(path, O_RDWR | O_CREAT)
            let file = SystemFile(descriptor: descriptor, path: full(path), calls: calls)
            let code = lockExclusively(descriptor)
            if code != 0 {
                let holder = LockHolder.process((try? file.read(at: 0, count: LockHolder.byteCount)) ?? [])  // Only for the message.
                let isOwn = (try? file.identity()).map { HeldLocks.has(FileIdentity($0)) } ?? false  // Only for the message.
                file.close()
                guard code == EWOULDBLOCK else { throw SystemFailure.error("lock", full(path), code) }
                throw SystemFailure.locked(full(path), holder: holder, isOwn: isOwn)
            }
            // If a failed creation has removed the file after it was opened, the file is opened again.
            guard try hasName(file) else { continue }
            return try SystemLock(file: file, in: self, path)
        }
    }

    private func hasName(_ file: SystemFile) throws(CambiumError) -> Bool { try file.status().st_nlink > 0 }

    package func share(_ path: String) throws(CambiumError) -> any VolumeLock {
        while true {
            let descriptor = try descriptor(path, O_RDONLY)
            let file = SystemFile(descriptor: descriptor, path: full(path), calls: calls)
            let code = SystemCalls.uninterrupted { calls.flock(descriptor, LOCK_SH) }
            if code != 0 { throw SystemFailure.error("lock", full(path), code) }
            // While this call waited, a process that held an exclusive lock may have removed or replaced the file. In that case, the call
            // begins again.
            if try hasName(file) { return SystemShare(file: file) }
        }
    }

    package func isShared(_ path: String) throws(CambiumError) -> Bool {
        let locked: (descriptor: Int32, code: Int32)
        do throws(CambiumError) { locked = try lockedExclusively(path) } catch {
            guard error.code == .notFound else { throw error }
            return false
        }
        // If no thread or process shares the file, `lockedExclusively` has taken the lock. Closing the descriptor releases the lock. Until
        // then, a call to `share` waits.
        defer { Glibc.close(locked.descriptor) }
        if locked.code == 0 { return false }
        guard locked.code == EWOULDBLOCK else { throw SystemFailure.error("lock", full(path), locked.code) }
        return true
    }

    package func removeUnlessShared(_ path: String) throws(CambiumError) -> Bool {
        try unlessShared(path) { () throws(CambiumError) in
            let path = full(path)
            if unlink(path) != 0 { throw SystemFailure.error("remove", path, errno) }
        }
    }

    package func renameUnlessShared(_ path: String, to newPath: String) throws(CambiumError) -> Bool {
        try unlessShared(newPath) { () throws(CambiumError) in try rename(path, to: newPath) }
    }

    /// Calls `body` while this process holds an exclusive lock on the file at `path`. If another thread or process shares the file, returns
    /// `false` and does not call `body`.
    private func unlessShared(_ path: String, _ body: () throws(CambiumError) -> Void) throws(CambiumError) -> Bool {
        let (descriptor, code) = try lockedExclusively(path)
        defer { Glibc.close(descriptor) }
        if code == EWOULDBLOCK { return false }
        if code != 0 { throw SystemFailure.error("lock", full(path), code) }
        try body()
        return true
    }

    /// Opens a file and tries to lock it exclusively, without waiting. Returns the descriptor, which the caller closes, and the error
    /// number of the lock, or 0.
    private func lockedExclusively(_ path: String) throws(CambiumError) -> (descriptor: Int32, code: Int32) {
        let descriptor = try descriptor(path, O_RDONLY)
        let code = lockExclusively(descriptor)
        if code != EBADF { return (descriptor, code) }
        // NFS locks a file exclusively only if the file is open for writing. The first attempt opens the file for reading, because another
        // user may own the file and permit only reading.
        Glibc.close(descriptor)
        let writable = try self.descriptor(path, O_RDWR)
        return (writable, lockExclusively(writable))
    }

    /// Locks an open file exclusively, without waiting for other holders. Returns the error number, or 0 if the file is locked. On a
    /// network file system, a signal can interrupt even this call.
    private func lockExclusively(_ descriptor: Int32) -> Int32 {
        SystemCalls.uninterrupted { calls.flock(descriptor, LOCK_EX | LOCK_NB) }
    }
}

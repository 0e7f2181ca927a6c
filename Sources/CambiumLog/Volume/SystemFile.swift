internal import CMachine
import CambiumBytes
internal import CambiumModel
import Glibc

/// An open file of the operating system.
///
/// SENDABLE: the descriptor is a number; the owner of the file ensures that the file is not closed while another thread is using it.
final class SystemFile: VolumeFile, @unchecked Sendable {
    private var descriptor: Int32
    /// The error number of the sync that failed, or 0 if no sync has failed.
    private let syncCode = Guarded<Int32>(0)
    private let path: String
    private let calls: SystemCalls

    init(descriptor: Int32, path: String, calls: SystemCalls) {
        self.descriptor = descriptor
        self.path = path
        self.calls = calls
    }

    deinit { close() }

    func status() throws(CambiumError) -> stat {
        var status = stat()
        let code = SystemCalls.uninterrupted { fstat(descriptor, &status) }
        if code != 0 { throw SystemFailure.error("examine", path, code) }
        return status
    }

    func byteCount() throws(CambiumError) -> Int { Int(try status().st_size) }

    /// Returns the identity of the file. Does not request its times, because that would slow down the next sync.
    func identity() throws(CambiumError) -> cmachine_identity_t {
        var identity = cmachine_identity_t()
        if cmachine_identity(descriptor, nil, &identity) != 0 { throw SystemFailure.error("examine", path, errno) }
        return identity
    }

    func isSame(as other: any VolumeFile) -> Bool {
        // If the operating system cannot identify a file, the file is regarded as different from every other file.
        guard let other = other as? SystemFile, let own = try? identity(), let identity = try? other.identity() else { return false }
        return FileIdentity(own) == FileIdentity(identity)
    }

    func read(at offset: Int, count: Int) throws(CambiumError) -> [UInt8] {
        if count == 0 { return [] }  // The initializer below would write to the memory that all empty arrays share.
        if count >= Self.largeByteCount { try CambiumError.checkMemory(count, for: "\(count) bytes of '\(path)'") }
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            while done < count {
                // SAFETY: `pread` writes between the bytes that were read earlier and the end of the buffer.
                let got = calls.pread(descriptor, buffer.baseAddress.map { $0 + done }, count - done, off_t(offset + done))
                if got > 0 {
                    done += got
                } else if got == 0 {
                    break
                } else if errno != EINTR {
                    failure = errno
                    break
                }
            }
        }
        if failure != 0 { throw SystemFailure.error("read", path, failure) }
        return bytes
    }

    /// A read of at least this many bytes first checks whether the limits of the process leave enough memory.
    private static let largeByteCount = 1 << 20

    func write(_ bytes: [UInt8], at offset: Int) throws(CambiumError) {
        var done = 0
        var failure: Int32 = 0
        bytes.withUnsafeBytes { buffer in
            while done < buffer.count {
                // SAFETY: `pwrite` reads between the bytes that were written before and the end of the buffer.
                let put = calls.pwrite(descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(offset + done))
                if put > 0 {
                    done += put
                } else if put == 0 {
                    // A write of zero bytes is treated as a failure, because a repeated call might not write anything either.
                    failure = EIO
                    break
                } else if errno != EINTR {
                    failure = errno
                    break
                }
            }
        }
        if failure != 0 { throw SystemFailure.error("write", path, failure) }
    }

    func truncate(to byteCount: Int) throws(CambiumError) {
        let code = SystemCalls.uninterrupted { calls.ftruncate(descriptor, off_t(byteCount)) }
        if code != 0 { throw SystemFailure.error("truncate", path, code) }
    }

    func beginSync(at offset: Int, count: Int) { cmachine_begin_sync(descriptor, Int64(offset), Int64(count)) }

    func sync() throws(CambiumError) {
        // The kernel reports a failed sync only once. So the lock stays held during the sync, and later calls return the same failure.
        let code = syncCode.withLock { code in
            if code == 0 { code = syncOnce() }
            return code
        }
        if code != 0 { throw SystemFailure.error("sync", path, code) }
    }

    /// Syncs the file, and returns the error number, or 0 if the file is durable.
    private func syncOnce() -> Int32 {
        let code = SystemCalls.uninterrupted { calls.fdatasync(descriptor) }
        // File systems that never change, such as SquashFS, EROFS and ISO 9660, refuse every sync with this error. All of their bytes are
        // durable.
        return code == EINVAL && calls.isOnReadOnlyFileSystem(descriptor) ? 0 : code
    }

    func close() {
        guard descriptor >= 0 else { return }
        Glibc.close(descriptor)
        descriptor = -1
    }

    func map(byteCount: Int) throws(CambiumError) -> FileMapping? {
        // The mapping extends beyond the end of the file, because a page that was not verified may state a size that extends beyond the
        // end. The memory beyond the end reads as zero.
        let whole = byteCount + Self.slackByteCount
        guard let base = Self.reserve(whole) else { throw SystemFailure.error("map", path, errno) }
        guard mmap(base, byteCount, PROT_READ, MAP_SHARED | MAP_FIXED, descriptor, 0) == base else {
            let code = errno
            munmap(base, whole)
            throw SystemFailure.error("map", path, code)
        }
        return FileMapping(base: base, byteCount: byteCount, slackByteCount: Self.slackByteCount)
    }

    /// The size of the address space that follows a mapping, in bytes: two chunks of pages.
    private static let slackByteCount = 128 << 10

    /// Returns address space that begins at a multiple of the size of a huge page, or `nil` with an error number in `errno`. If the kernel
    /// caches a part of a file in one huge page, it can also map this part as one huge page. The processor translates addresses in huge
    /// pages faster.
    private static func reserve(_ byteCount: Int) -> UnsafeMutableRawPointer? {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard let start = mmap(nil, byteCount + hugePageByteCount, PROT_READ, flags, -1, 0), start != MAP_FAILED else { return nil }
        let base = start.alignedUp(toMultipleOf: hugePageByteCount)
        // SAFETY: these ranges lie outside the returned range, and belong to no other mapping.
        if base > start { munmap(start, base - start) }
        munmap(base + byteCount, start + hugePageByteCount - base)
        return base
    }

    private static let hugePageByteCount = 2 << 20

    func preallocate(offset: Int, byteCount: Int) throws(CambiumError) {
        // `posix_fallocate` returns its error number and does not set `errno`.
        var code = calls.posix_fallocate(descriptor, off_t(offset), off_t(byteCount))
        while code == EINTR { code = calls.posix_fallocate(descriptor, off_t(offset), off_t(byteCount)) }
        if code != 0 { throw SystemFailure.error("preallocate space for", path, code) }
    }

    func mapWindow(byteCount: Int) throws(CambiumError) -> FileMapping? {
        let flags = MAP_SHARED | MAP_NORESERVE
        guard let base = mmap(nil, byteCount, PROT_READ | PROT_WRITE, flags, descriptor, 0), base != MAP_FAILED else {
            throw SystemFailure.error("map", path, errno)
        }
        return FileMapping(base: base, byteCount: byteCount)
    }

    func replace(_ memory: UnsafeMutableRawPointer, offset: Int, byteCount: Int) -> Bool {
        mmap(memory, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor, off_t(offset)) == memory
    }

    func discard(offset: Int, byteCount: Int) throws(CambiumError) {
        let code = SystemCalls.uninterrupted { cmachine_discard(descriptor, Int64(offset), Int64(byteCount)) }
        if code != 0, code != EOPNOTSUPP { throw SystemFailure.error("release space of", path, code) }
    }
}

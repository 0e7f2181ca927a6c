internal import CZlib

/// A decompressor for gzip files (RFC 1952), which it reads piece by piece. A file consists of any number of members, which are compressed
/// separately. Zeros may follow the last member, because programs that write blocks of a fixed size, for example to tapes, fill the last
/// block with zeros.
///
/// The inflater uses a window of 32 KiB, however large the output is. It checks the CRC-32 and the length of each member. It is not
/// thread-safe.
///
///     let inflater = GzipInflater()
///     let (read, written) = try inflater.inflate(input, into: output)
public final class GzipInflater {
    public enum Failure: Error, Hashable, Sendable {
        /// The input is not a gzip file, or it is corrupt. `offset` is the number of input bytes that were read before the fault was found.
        case corrupted(offset: Int)
        /// The memory for the window could not be allocated.
        case memory
    }

    // SAFETY: zlib keeps the address of this state inside the state. So the state has its own memory, which never moves.
    private let stream: UnsafeMutablePointer<z_stream>
    /// The number of bytes of input that were used.
    public private(set) var offset = 0
    /// Whether the input so far consists of one or more complete members, which zeros may follow.
    public private(set) var isWhole = false
    /// Whether zeros have followed a member. If so, only zeros may follow.
    private var isPadded = false

    public init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 15 means a window of 2^15 bytes, the largest one; adding 16 means the header and trailer of gzip.
        let code = inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        Trap.unless(code == Z_OK, "The process has no memory left for decompression. Give the process more memory.")
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Decompresses `input` into `output` until one of the two is exhausted.
    ///
    /// Returns the number of input bytes that were used, and the number of bytes that were produced. The caller passes the rest of the
    /// input to the next call.
    public func inflate(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(Failure) -> (used: Int, made: Int) {
        if output.isEmpty { return (0, 0) }
        if isWhole {
            if input.isEmpty { return (0, 0) }
            if isPadded || input[0] == 0 { return (try skipPadding(input), 0) }
            inflateReset(stream)
            isWhole = false
        }
        let inputCount = UInt32(clamping: input.count)
        let outputCount = UInt32(clamping: output.count)
        // SAFETY: each buffer is passed with at most its length. zlib only reads the input, although the type of its pointer is mutable,
        // and uses no pointer after the call.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.assumingMemoryBound(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = inputCount
        stream.pointee.next_out = output.assumingMemoryBound(to: UInt8.self).baseAddress
        stream.pointee.avail_out = outputCount
        let code = CZlib.inflate(stream, Z_NO_FLUSH)
        let used = Int(inputCount - stream.pointee.avail_in)
        offset += used
        switch code {
        case Z_STREAM_END: isWhole = true
        // `Z_BUF_ERROR` means that zlib needs more input or more space for output. If the caller has no more input, the file is truncated.
        case Z_OK, Z_BUF_ERROR: break
        case Z_MEM_ERROR: throw .memory
        default: throw .corrupted(offset: offset)
        }
        return (used, Int(outputCount - stream.pointee.avail_out))
    }

    /// Skips the zeros after the last member. Returns their number. Throws `.corrupted` if another byte follows them.
    private func skipPadding(_ input: UnsafeRawBufferPointer) throws(Failure) -> Int {
        isPadded = true
        let count = input.firstIndex { $0 != 0 } ?? input.count
        offset += count
        if count < input.count { throw .corrupted(offset: offset) }
        return count
    }
}

internal import CZlib

/// Decompresses gzip files (RFC 1952) piece by piece, of any number of members one after the other.
///
/// Memory is a window of 32 KiB, whatever the input becomes. Each member's CRC-32 and length are checked. Not thread-safe.
///
///     let inflater = GzipInflater()
///     let (read, written) = try inflater.inflate(input, into: output)
public final class GzipInflater {
    public enum Failure: Error, Hashable, Sendable {
        /// Bytes that are no gzip file, or not those that were written; `offset` is how far the input was read.
        case damaged(offset: Int)
        /// There is no memory for the window.
        case memory
    }

    // SAFETY: zlib remembers the address of its state, so it has one of its own that never moves.
    private let stream: UnsafeMutablePointer<z_stream>
    /// Bytes of input that were used.
    public private(set) var offset = 0
    /// Whether the input used so far is whole members, at least one.
    public private(set) var isWhole = false

    public init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 15 bits of window, the most there are, and 16 for the header and trailer of gzip.
        let code = inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        Trap.unless(code == Z_OK, "There is no memory to decompress with.")
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Decompresses from the beginning of `input` to the beginning of `output`, as far as both last.
    ///
    /// Returns how many bytes were used and made; the rest of the input comes again with the next call.
    public func inflate(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(Failure) -> (used: Int, made: Int) {
        if output.isEmpty { return (0, 0) }
        if isWhole {
            if input.isEmpty { return (0, 0) }
            inflateReset(stream)
            isWhole = false
        }
        let inputCount = UInt32(clamping: input.count)
        let outputCount = UInt32(clamping: output.count)
        // SAFETY: both buffers are passed with no more than their lengths; zlib only reads the input, though its type does not
        // say so, and keeps neither beyond the call.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.assumingMemoryBound(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = inputCount
        stream.pointee.next_out = output.assumingMemoryBound(to: UInt8.self).baseAddress
        stream.pointee.avail_out = outputCount
        let code = CZlib.inflate(stream, Z_NO_FLUSH)
        let used = Int(inputCount - stream.pointee.avail_in)
        offset += used
        switch code {
        case Z_STREAM_END: isWhole = true
        // Neither input nor room was of use: the caller has more of one of them, or the input is cut short.
        case Z_OK, Z_BUF_ERROR: break
        case Z_MEM_ERROR: throw .memory
        default: throw .damaged(offset: offset)
        }
        return (used, Int(outputCount - stream.pointee.avail_out))
    }
}

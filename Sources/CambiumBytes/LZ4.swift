internal import CLZ4

/// LZ4 blocks (lz4 block format, no frame). Source: Y. Collet, LZ4 block format description.
public enum LZ4 {
    /// Returns the compressed bytes, or `nil` if compression does not make `bytes` smaller.
    public static func compress(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        guard bytes.count > 16, bytes.count <= byteCountMax else { return nil }
        var compressedCount: Int32 = 0
        let capacity = bytes.count - 1
        let compressed = [UInt8](unsafeUninitializedCapacity: capacity) { target, initialized in
            // SAFETY: both buffers are passed with their own lengths, and LZ4 stays inside them.
            compressedCount = LZ4_compress_default(
                bytes.assumingMemoryBound(to: CChar.self).baseAddress,
                UnsafeMutableRawBufferPointer(target).assumingMemoryBound(to: CChar.self).baseAddress,
                Int32(bytes.count), Int32(capacity))
            initialized = max(0, Int(compressedCount))
        }
        return compressedCount > 0 ? compressed : nil
    }

    /// Returns the original bytes. Returns `nil` if the block is corrupt, or if the number of its original bytes is not `byteCount`.
    ///
    /// The function allocates `byteCount` bytes, so the caller must first compare a number from a file with a limit.
    public static func decompress(_ block: UnsafeRawBufferPointer, byteCount: Int) -> [UInt8]? {
        // A `byteCount` of 0 is refused, because no block has 0 original bytes. LZ4 could otherwise overwrite the memory that all empty
        // arrays share.
        guard byteCount > 0, byteCount <= byteCountMax, block.count <= byteCountMax else { return nil }
        var result: Int32 = -1
        let bytes = [UInt8](unsafeUninitializedCapacity: byteCount) { target, initialized in
            // SAFETY: both buffers are passed with their own lengths; LZ4_decompress_safe never leaves them.
            result = LZ4_decompress_safe(
                block.assumingMemoryBound(to: CChar.self).baseAddress,
                UnsafeMutableRawBufferPointer(target).assumingMemoryBound(to: CChar.self).baseAddress,
                Int32(block.count), Int32(byteCount))
            initialized = max(0, Int(result))
        }
        return result == Int32(byteCount) ? bytes : nil
    }

    /// The maximum number of original bytes of a block, slightly less than 2 GiB.
    public static let byteCountMax = Int(LZ4_MAX_INPUT_SIZE)
}

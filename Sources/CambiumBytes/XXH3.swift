internal import CXXHash

/// XXH3, a fast hash that is not cryptographic. Source: Y. Collet, xxHash specification, 0.8.
public enum XXH3 {
    public static func hash64(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        cxxhash_64(bytes.baseAddress, bytes.count, seed)
    }

    public static func hash128(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> (low: UInt64, high: UInt64) {
        let hash = cxxhash_128(bytes.baseAddress, bytes.count, seed)
        return (hash.low, hash.high)
    }
}

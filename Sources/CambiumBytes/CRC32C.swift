internal import CMachine

/// The checksum CRC-32C, which iSCSI (RFC 3720, appendix B.4) and ext4 also use.
public enum CRC32C {
    /// Returns the checksum of bytes. `previous` is the checksum of the bytes that precede them, or 0 if no bytes precede them.
    public static func checksum(_ bytes: UnsafeRawBufferPointer, from previous: UInt32 = 0) -> UInt32 {
        cmachine_crc32c(previous, bytes.baseAddress, bytes.count)
    }

    public static func checksum(_ bytes: [UInt8], from previous: UInt32 = 0) -> UInt32 {
        bytes.withUnsafeBytes { checksum($0, from: previous) }
    }

    /// Returns the checksum of the bytes, computed without the processor's CRC instruction. Tests compare this checksum with the result of
    /// `checksum`.
    static func portableChecksum(_ bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBytes { cmachine_crc32c_portable(0, $0.baseAddress, $0.count) }
    }
}

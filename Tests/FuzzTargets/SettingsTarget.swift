import Cambium
import CambiumBytes
import CambiumLog
import CambiumModel

/// The fuzz target for the settings file `store.json` and for the file HEAD, which has two slots. Settings that can be read are written
/// back with the same bytes. With any HEAD, a store reads the log to its end, or is refused.
///
/// The first byte of an input, modulo 3, chooses the file: 0 for settings, 1 for HEAD, and 2 for HEAD with recomputed checksums.
enum SettingsTarget {
    private static let sample = Result { try SampleStore().segment }

    @Sendable static func seeds() throws -> [[UInt8]] {
        let head = try SampleStore().files[Head.fileName] ?? []
        var synced = SampleStore.settings
        synced.durability = .synced
        var kept = SampleStore.settings
        kept.keptDayCount = StoreSettings.keptDayCountMax
        return [[0] + SampleStore.settings.encode(), [0] + synced.encode(), [0] + kept.encode(), [1] + head, [2] + head]
    }

    @Sendable static func run(_ input: [UInt8]) throws {
        guard let kind = input.first else { return }
        var bytes = Array(input.dropFirst())
        if kind % 3 == 0 { return try settings(bytes) }
        if kind % 3 == 2 { mend(&bytes) }
        try open(
            MemoryVolume(contents: [
                StoreSettings.fileName: SampleStore.settings.encode(), Head.fileName: bytes, SampleStore.segmentPath: try sample.get(),
            ]))
    }

    private static func open(_ volume: MemoryVolume) throws {
        do {
            let store = try Store.open(volume, durability: nil, environment: SampleStore.environment)
            try store.recordDigest()
            try store.close()
        } catch is CambiumError {
            return  // Refused.
        }
        // The store has written only one of the two slots of HEAD, so the other one may still be invalid.
        try Finding.check(Verification(volume).findings, "a store that was opened and closed", except: { $0.contains("HEAD") })
    }

    private static func settings(_ bytes: [UInt8]) throws {
        let settings: StoreSettings
        do throws(CambiumError) { settings = try StoreSettings.decode(bytes, file: StoreSettings.fileName) } catch { return }  // Refused.
        guard settings.encode() == bytes else { throw Finding("settings are not written back unchanged") }
        try open(MemoryVolume(contents: [StoreSettings.fileName: bytes, SampleStore.segmentPath: try sample.get()]))
    }

    private static func mend(_ bytes: inout [UInt8]) {
        let byteCount = bytes.count > 128 ? 128 : 64
        for start in stride(from: 0, to: bytes.count - byteCount + 1, by: byteCount) {
            let place = start + byteCount - 4
            let checksum = CRC32C.checksum(Array(bytes[start..<place]))
            for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * index)) }
        }
    }
}

import CambiumBytes
package import CambiumModel

/// The settings of a store: the content of the file `store.json`. FORMAT.md 1.
package struct StoreSettings: Equatable, Sendable {
    package static let fileName = StoreFileName.settings

    package enum Durability: Equatable, Sendable {
        case synced
        case buffered(microseconds: Int64)
    }

    /// The id of the store, 16 random bytes.
    package var store: [UInt8]
    /// 16 random bytes, from which the key of the graph's indexes is computed. Without such bytes, they are the id of the store.
    package var indexSecret: [UInt8]
    /// The time when the store was created, in microseconds since 1970.
    package var creationTime: Int64
    package var durability: Durability
    /// The number of requests that the store keeps, counted back from the newest. If a kept request is repeated, the store recognizes the
    /// request by its id.
    package var requestWindow: Int
    /// The maximum number of checkpoints that are kept, at least one.
    package var checkpointCountMax: Int
    /// The maximum size of the pages that only time travel needs, as a percentage of the size of the newest checkpoint.
    package var historyPercent: Int
    /// Whether checkpoints are stored compressed.
    package var compressesPages: Bool
    /// The number of days, before the newest checkpoint, whose last checkpoints are kept; 0 for none. At most `keptDayCountMax`.
    package var keptDayCount: Int

    /// A hundred years.
    package static let keptDayCountMax = 36_525

    package init(
        store: [UInt8], indexSecret: [UInt8]? = nil, creationTime: Int64, durability: Durability, requestWindow: Int = 1_000_000,
        checkpointCountMax: Int = 32, historyPercent: Int = 100, compressesPages: Bool = false, keptDayCount: Int = 0
    ) {
        self.store = store
        self.indexSecret = indexSecret ?? store
        self.creationTime = creationTime
        self.durability = durability
        self.requestWindow = requestWindow
        self.checkpointCountMax = checkpointCountMax
        self.historyPercent = historyPercent
        self.compressesPages = compressesPages
        self.keptDayCount = keptDayCount
    }

    /// Replaces the settings of an existing store. The caller holds the store's lock.
    package func replace(in volume: any Volume) throws(CambiumError) {
        try volume.replace(Self.fileName, encode())
        try volume.syncDirectory("")
    }

    /// Reads the settings of a store. Throws `.notFound` if there is no store, or if the creation of the store was interrupted. Throws
    /// `.corrupted` if the settings cannot be read.
    package static func read(_ volume: any Volume) throws(CambiumError) -> StoreSettings {
        try checkPresence(volume)
        return try decode(try volume.bytes(of: fileName), file: fileName)
    }

    /// Whether there is a store whose creation was not interrupted. The store may be corrupt.
    package static func isPresent(_ volume: any Volume) throws(CambiumError) -> Bool {
        do throws(CambiumError) {
            try checkPresence(volume)
            return true
        } catch {
            guard error.code == .notFound else { throw error }
            return false
        }
    }

    /// Checks that there is a store, and that its creation was not interrupted; otherwise, throws `.notFound`.
    package static func checkPresence(_ volume: any Volume) throws(CambiumError) {
        try StoreCreation.checkComplete(volume)
        guard try !volume.exists(fileName) else { return }
        // The list of segments only improves the remedy in the error, so a failure to list the segments is ignored.
        guard let segments = try? LogDirectory.segments(volume), !segments.isEmpty else {
            throw CambiumError(.notFound, "There is no store at '\(volume.name)'. Check the path, or create a store with 'cambium init'.")
        }
        throw CambiumError(
            .notFound,
            "'\(volume.name)' contains the log of a store, but no '\(fileName)'. Restore the store from a backup, or run 'cambium repair'.")
    }

    package func encode() -> [UInt8] {
        let level =
            switch durability {
            case .synced: "synced"
            case .buffered(let microseconds): "buffered:\(microseconds)"
            }
        let text =
            "{\"format\":\(Format.version),\"store\":\"\(HexText.encode(store))\",\"created\":\(creationTime),"
            + "\"durability\":\"\(level)\",\"requestWindow\":\(requestWindow)"
            + ",\"checkpoints\":\(checkpointCountMax),\"historyPercent\":\(historyPercent)"
            + (compressesPages ? ",\"compression\":\"lz4\"" : "")
            + (keptDayCount > 0 ? ",\"keptDays\":\(keptDayCount)" : "")
            + ",\"indexSecret\":\"\(HexText.encode(indexSecret))\""
        let content = Array(text.utf8)
        return content + Self.end(of: content)
    }

    /// Returns the end of a text of settings: the checksum of the preceding bytes, and a line feed. Every version has the same end.
    private static func end(of content: [UInt8]) -> [UInt8] {
        let checksum = withUnsafeBytes(of: CRC32C.checksum(content).bigEndian) { HexText.encode($0) }
        return Array(",\"check\":\"\(checksum)\"}\n".utf8)
    }

    /// Whether the bytes end with the checksum of all bytes that precede the checksum.
    private static func hasChecksum(_ bytes: [UInt8]) -> Bool {
        let content = Array(bytes.dropLast(end(of: []).count))
        return bytes == content + end(of: content)
    }

    /// Decodes settings. Throws `.corrupted` if `encode` cannot have written the text. Throws `.unsupportedFormat` for a later format, if
    /// the checksum matches.
    package static func decode(_ bytes: [UInt8], file: String) throws(CambiumError) -> StoreSettings {
        func corrupted(_ flaw: String) -> CambiumError {
            CambiumError(
                .corrupted,
                "\(flaw), so the directory is not a store, or the store is corrupt. Check the path. "
                    + "If the path is right, restore the store from a backup, or save its data with 'cambium repair'.",
                place: .init(file: file))
        }
        guard let text = String(validating: bytes, as: UTF8.self), text.utf8.count <= 4096 else { throw corrupted("The file is not text") }
        guard text.hasPrefix("{\"format\":") else { throw corrupted("The file does not begin with the format number of a store") }
        let version = text.dropFirst(10).prefix { $0.isNumber }
        guard UInt16(version) == Format.version else {
            // An unknown number is the number of a later format only if the checksum matches. Otherwise, the settings are corrupt, and a
            // repair ignores them.
            guard hasChecksum(bytes) else { throw corrupted("The checksum at the end of the file does not match the settings") }
            throw CambiumError(
                .unsupportedFormat,
                "The store has format \(version); this program reads format \(Format.version). "
                    + "Use the version of Cambium that wrote the store.",
                place: .init(file: file))
        }
        // Each reader of a store decodes the settings. Bytes are split several times faster than characters.
        var fields: [String: String] = [:]
        for field in bytes.prefix(while: { $0 != UInt8(ascii: "}") }).dropFirst().split(separator: UInt8(ascii: ",")) {
            let parts = field.split(separator: UInt8(ascii: ":"), maxSplits: 1).map { part in
                String(decoding: part.filter { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
            }
            guard parts.count == 2 else { throw corrupted("'\(String(decoding: field, as: UTF8.self))' is not a setting") }
            fields[parts[0]] = parts[1]
        }
        guard let store = fields["store"].flatMap({ HexText.decode($0) }), store.count == 16,
            let creationTime = fields["created"].flatMap({ Int64($0) }), let level = fields["durability"],
            let requestWindow = fields["requestWindow"].flatMap({ Int($0) }), requestWindow >= 0,
            let checkpointCountMax = fields["checkpoints"].flatMap({ Int($0) }), checkpointCountMax > 0,
            let historyPercent = fields["historyPercent"].flatMap({ Int($0) }), historyPercent >= 0,
            let keptDayCount = Int(fields["keptDays"] ?? "0"), (0...keptDayCountMax).contains(keptDayCount)
        else { throw corrupted("A setting is missing or malformed") }
        let interval = level.hasPrefix("buffered:") ? Int64(level.dropFirst(9)) : nil
        guard level == "synced" || interval ?? 0 > 0 else { throw corrupted("'\(level)' is not a level of durability") }
        guard let indexSecret = fields["indexSecret"].flatMap({ HexText.decode($0) }), indexSecret.count == 16 else {
            throw corrupted("The setting 'indexSecret' is missing or malformed")
        }
        let settings = StoreSettings(
            store: store, indexSecret: indexSecret, creationTime: creationTime,
            durability: interval.map { .buffered(microseconds: $0) } ?? .synced,
            requestWindow: requestWindow, checkpointCountMax: checkpointCountMax, historyPercent: historyPercent,
            compressesPages: fields["compression"] == "lz4", keptDayCount: keptDayCount)
        guard settings.encode() == bytes else { throw corrupted("The checksum at the end of the file does not match the settings") }
        return settings
    }
}

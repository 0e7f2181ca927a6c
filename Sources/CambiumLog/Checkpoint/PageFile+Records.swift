import CambiumBytes
package import CambiumModel
package import CambiumProofs

extension PageFile {
    /// Returns the path of the file of pages with the number `name`: `pages-`, and the number as 16 hexadecimal digits.
    static func path(_ name: UInt64) -> String { prefix + HexText.encode(withUnsafeBytes(of: name.bigEndian) { Array($0) }) }

    /// Returns the lowest number that is at least `name` and that no file of pages has. Call this method only while the lock of the store
    /// is held.
    package static func unusedName(from name: UInt64, in volume: any Volume) throws(CambiumError) -> UInt64 {
        var name = name
        while try volume.exists(path(name)) { name &+= 1 }
        return name
    }

    /// Returns the number of bytes that all files of pages take on disk.
    package static func byteCount(_ volume: any Volume) throws(CambiumError) -> Int {
        var byteCount = 0
        for name in try volume.list("") where isName(name) {
            do throws(CambiumError) {
                byteCount += try volume.diskByteCount(of: name)
            } catch {
                // A writer may have removed the file after the directory was listed.
                guard error.code == .notFound else { throw error }
            }
        }
        return byteCount
    }

    /// Whether a name in the directory of a store is the name of a file of pages.
    static func isName(_ name: String) -> Bool {
        name.hasPrefix(prefix) && UInt64(name.dropFirst(prefix.utf8.count), radix: 16).map(path) == name
    }

    /// Returns the checkpoint record of a transaction, and its number of bytes. Returns `nil` if the record is corrupt or is not a regular
    /// file, or if its table is corrupt or missing. Throws if the record cannot be read.
    package static func root(
        _ volume: any Volume, store: [UInt8], _ transaction: TransactionNumber
    ) throws(CambiumError) -> (record: CheckpointRecord, byteCount: Int)? {
        guard var bytes = try recordBytes(volume, transaction) else { return nil }
        while true {
            do throws(CambiumError) {
                guard let recorded = try recorded(bytes, store: store) else { return nil }
                return (try root(volume, recorded), bytes.count)
            } catch {
                guard error.code == .corrupted || error.code == .notFound else { throw error }
                // This method holds no lock on the record. So a writer may have replaced the record after it was read, and reused the
                // chunks of its table.
                guard let newer = try recordBytes(volume, transaction), newer != bytes else { return nil }
                bytes = newer
            }
        }
    }

    /// Returns the Merkle tree over the log up to the transaction of a checkpoint, from the checkpoint record. Returns `nil` if the record
    /// is corrupt, is not a regular file, belongs to another transaction, or has no tree. Throws if the record cannot be read.
    package static func tree(
        _ volume: any Volume, store: [UInt8], _ transaction: TransactionNumber
    ) throws(CambiumError) -> MerkleTree? {
        guard let bytes = try recordBytes(volume, transaction), let record = try recorded(bytes, store: store)?.record,
            record.transaction == transaction
        else { return nil }
        return record.tree
    }

    /// Returns the part of the log that a checkpoint contains, from the checkpoint record. Returns `nil` if the record is corrupt or
    /// missing. Throws if the record cannot be read.
    static func prefix(_ volume: any Volume, store: [UInt8], _ transaction: TransactionNumber) throws(CambiumError) -> LogPrefix? {
        do throws(CambiumError) {
            guard let bytes = try recordBytes(volume, transaction), let record = try recorded(bytes, store: store)?.record,
                record.transaction == transaction
            else { return nil }
            return LogPrefix(record)
        } catch {
            // A writer may have dropped the checkpoint after the directory was listed.
            guard error.code == .notFound else { throw error }
            return nil
        }
    }

    /// Returns the newest transaction that has a checkpoint record. Ignores records that fail verification. Returns `.none` if no record
    /// passes verification.
    static func newestRecorded(_ volume: any Volume, store: [UInt8]) throws(CambiumError) -> TransactionNumber {
        for number in try CheckpointRecord.list(volume) {
            do throws(CambiumError) {
                guard let bytes = try recordBytes(volume, number) else { continue }
                let record = try recorded(bytes, store: store)?.record
                if record?.transaction == number { return number }
            } catch {
                // A writer may have dropped the checkpoint after the directory was listed.
                guard error.code == .notFound else { throw error }
            }
        }
        return .none
    }

    /// Decodes a checkpoint record, but not its table, which may be in the file of pages. Returns `nil` if the record is corrupt.
    static func recorded(_ bytes: [UInt8], store: [UInt8]) throws(CambiumError) -> RecordedCheckpoint? {
        do throws(DecodingError) { return try RecordedCheckpoint(bytes, store: store) } catch { return nil }
    }

    private static func root(_ volume: any Volume, _ recorded: RecordedCheckpoint) throws(CambiumError) -> CheckpointRecord {
        try recorded.resolved { chunk, byteCount throws(CambiumError) in
            let file = try volume.open(path(recorded.record.pageFile), .read)
            defer { file.close() }
            return try file.read(at: chunk * chunkByteCount, count: byteCount)
        }
    }

    /// Removes the file `damageMark`, which reports that a process found a corrupt stored graph. Without this file, stored graphs are no
    /// longer checked completely before they are used.
    package static func removeDamageMark(_ volume: any Volume) throws(CambiumError) {
        guard try volume.exists(damageMark) else { return }
        try volume.remove(damageMark)
        try volume.syncDirectory(CheckpointRecord.directory)
    }

    /// Returns the first line of the error message in the file `damageMark`, or `nil` if this file does not exist.
    package static func corruptionNote(_ volume: any Volume) throws(CambiumError) -> String? {
        guard try volume.exists(damageMark) else { return nil }
        do throws(CambiumError) {
            let file = try volume.open(damageMark, .read)
            defer { file.close() }
            let beginning = try file.read(at: 0, count: beginningByteCountMax)
            return String(decoding: beginning, as: UTF8.self).split(separator: "\n").first.map(String.init) ?? ""
        } catch {
            guard error.code == .notFound else { throw error }
            return nil  // A writer has made a new checkpoint, and then removed the file.
        }
    }

    /// The maximum number of bytes of the file `damageMark` that are read. Only the existence of the file matters, and not its length.
    private static let beginningByteCountMax = 4096

    /// Returns the bytes of a checkpoint record. Returns `nil` if a link or a directory has the name of the record, because it counts as a
    /// record that does not verify.
    private static func recordBytes(_ volume: any Volume, _ transaction: TransactionNumber) throws(CambiumError) -> [UInt8]? {
        do throws(CambiumError) {
            return try bytes(volume, CheckpointRecord.path(transaction))
        } catch {
            guard error.code == .corrupted else { throw error }
            return nil
        }
    }

    static func bytes(_ volume: any Volume, _ path: String) throws(CambiumError) -> [UInt8] {
        let file = try volume.open(path, .read)
        defer { file.close() }
        return try bytes(of: file)
    }

    /// Returns the bytes of a checkpoint record. If the file is longer than any record, returns only its beginning, which then fails
    /// verification.
    static func bytes(of record: any VolumeFile) throws(CambiumError) -> [UInt8] {
        try record.read(at: 0, count: Format.Root.recordByteCountMax + 1)
    }
}

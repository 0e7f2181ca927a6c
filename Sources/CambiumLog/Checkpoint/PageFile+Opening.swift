import CambiumBytes
internal import CambiumModel

extension PageFile {
    /// Takes a shared lock on a record, decodes the record, and opens its file of pages.
    ///
    /// Throws `.notFound` if there is no record. Throws `.corrupted` if the record fails verification, or if its file of pages is missing.
    static func opened(
        _ volume: any Volume, _ record: String, store: [UInt8]
    ) throws(CambiumError) -> (share: any VolumeLock, recorded: RecordedCheckpoint, file: any VolumeFile) {
        while true {
            let (share, bytes) = try shared(volume, record)
            let recorded: RecordedCheckpoint
            do throws(DecodingError) {
                recorded = try RecordedCheckpoint(bytes, store: store)
            } catch {
                throw CambiumError.corruptCheckpoint("The checkpoint is corrupt (\(error)).", file: record)
            }
            let pages = path(recorded.record.pageFile)
            do throws(CambiumError) {
                return (share, recorded, try volume.open(pages, .read))
            } catch {
                guard error.code == .notFound else { throw error }
                // A writer may have dropped the record, or replaced it with a record that names another file. If the record is unchanged,
                // its file is lost.
                guard try Self.bytes(volume, record) == bytes else { continue }
                throw CambiumError.corruptCheckpoint("The file with the pages of checkpoint '\(record)' is missing.", file: pages)
            }
        }
    }

    /// Takes a shared lock on a record, and returns the bytes of the locked file. If a writer replaces the record before the lock is taken,
    /// the lock does not protect the chunks of the opened record. In that case, this function begins again.
    private static func shared(_ volume: any Volume, _ record: String) throws(CambiumError) -> (share: any VolumeLock, bytes: [UInt8]) {
        while true {
            let file = try volume.open(record, .read)
            defer { file.close() }
            let share = try volume.share(record)
            if try volume.names(record, file) { return (share, try bytes(of: file)) }
        }
    }
}

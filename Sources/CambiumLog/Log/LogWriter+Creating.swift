import CambiumBytes
package import CambiumModel

extension LogWriter {
    /// Creates the files of an empty store, durably. The caller ensures that none of the files exists, and holds the lock of the directory.
    ///
    /// `StoreCreation` ensures that no program regards the files as a store before the first transaction is durable.
    package static func create(
        _ volume: any Volume, _ settings: StoreSettings, saltSeed: [UInt8]
    ) throws(CambiumError) {
        try volume.createDirectory(LogDirectory.name)
        let first = TransactionNumber(rawValue: 1)
        let header = SegmentHeader(
            store: settings.store, firstTransaction: first, creationTime: settings.creationTime, saltSeed: saltSeed,
            previousChecksum: 0)
        try volume.create(LogFileName.path(first, .segment), header.encode())
        try volume.syncDirectory(LogDirectory.name)
        let position = UInt64(Format.Segment.headerByteCount)
        let heads = [0, 1].map { sequence in
            Head(sequence: sequence, segment: first, position: position, lastTransaction: .none, isClosed: true).encode(
                store: settings.store)
        }
        try volume.create(Head.fileName, heads[0] + heads[1])
        try volume.replace(StoreSettings.fileName, settings.encode())
        try volume.syncDirectory("")
    }
}

import Cambium
import CambiumLog
import CambiumModel

/// Appends transactions with unchecked ops and matching checksums to the log of a store.
///
///     let files = try ForgedLog.append([OpCodec.encode([.set(id, [Assignment(wide, .double(.nan))])])], to: sample.files)
package enum ForgedLog {
    /// Returns the files of the store with the appended transactions.
    ///
    /// - Parameters:
    ///   - payloads: the bytes of the ops of each transaction.
    ///   - metadata: the metadata of each transaction. If its time is earlier than the last transaction of the log, the time of that
    ///     transaction replaces it.
    ///   - files: the files of the store, by path.
    package static func append(
        _ payloads: [[UInt8]], _ metadata: TransactionMetadata? = nil, to files: [String: [UInt8]]
    ) throws -> [String: [UInt8]] {
        let volume = MemoryVolume(contents: files)
        let reader = try LogReader(volume)
        let end = try reader.scan { _ in }
        let writer = try LogWriter(reader, end, preallocates: false) { [UInt8](repeating: 7, count: 16) }
        let lastTime = Timestamp(microsecondsSince1970: end.lastTime)
        for payload in payloads {
            var metadata = metadata ?? TransactionMetadata(time: lastTime, actor: "forger")
            metadata.time = max(metadata.time, lastTime)
            try writer.stage(metadata, EncodedOps(payload))
            try writer.write()
        }
        try writer.close()
        return volume.contents
    }
}

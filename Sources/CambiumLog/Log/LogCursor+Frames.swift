internal import CambiumModel

/// Reading the frames of the current segment, and passing their records to the caller in batches.
extension LogCursor {
    /// Reads the current segment. If `syncs` is set, bytes that another process may have just written are synced before they are read.
    mutating func readFrames(_ body: BatchBody) throws {
        guard mayBeWritten, isLast else { return try readFrames(upTo: .max, body) }
        // The bytes that were read while the file was opened are new.
        if !isFresh { try reader?.refresh() }
        isFresh = false
        // The call reads only up to the length that the file has now. Otherwise, the call might never end while another process is writing
        // continuously.
        let byteCount = reader?.byteCount ?? 0
        // The first steps are short, so that a caller that stops early does not wait until a large segment is completely verified.
        var stepByteCount = syncs ? Self.syncedStepByteCountMin : Self.stepByteCountMin
        while let offset = reader?.offset, offset < byteCount, let limit = try reader?.findEnd(within: stepByteCount), limit > offset {
            if syncs { try reader?.sync() }
            place = reader?.place
            try readFrames(upTo: limit, body)
            stepByteCount = min(2 * stepByteCount, FrameReader.windowByteCount)
        }
    }

    private static let stepByteCountMin = 16 << 10
    /// The minimum number of bytes of a step that ends with a sync.
    private static let syncedStepByteCountMin = 64 << 10
    /// The maximum number of bytes of ops for one call to `body`. A single frame may have more.
    private static let batchByteCountMax = 8 << 20

    private mutating func readFrames(upTo limit: Int, _ body: BatchBody) throws {
        var records: [LogRecord] = []
        var failure: CambiumError?
        var windowCount = reader?.windowCount
        var (countedCount, byteCount) = (0, 0)
        while let offset = reader?.offset, offset < limit {
            do throws(CambiumError) {
                if try reader?.nextFrame(into: &records) != true { break }
            } catch {
                failure = error
                break
            }
            while countedCount < records.count {
                byteCount += records[countedCount].opsByteCount
                countedCount += 1
            }
            // All records that one read of the file returned use one buffer. If two threads used records with the same buffer, counting
            // references to it would slow both threads down. So a batch ends when the file is read again.
            if records.count >= batchCountMax || byteCount >= Self.batchByteCountMax || reader?.windowCount != windowCount {
                try hand(&records, body)
                (countedCount, byteCount) = (0, 0)
            }
            windowCount = reader?.windowCount
        }
        // The caller receives all records that pass verification before it receives the error.
        try hand(&records, body)
        if let failure { throw failure }
    }

    /// Passes the records to the caller, without those that the caller has already received.
    private mutating func hand(_ records: inout [LogRecord], _ body: BatchBody) throws {
        guard let last = records.indices.last else { return }
        end.lastTransaction = records[last].number
        end.lastTime = records[last].metadata.time.microsecondsSince1970
        for place in records.indices { end.byteCount += records[place].fileByteCount }
        if records[0].number < first { records.removeAll { $0.number < first } }
        if !records.isEmpty { try body(&records) }
        records.removeAll(keepingCapacity: true)
    }
}

extension [LogRecord] {
    /// Calls `body` with each record without copying it, because a copy would change the reference counts of its parts.
    func forEachInPlace(_ body: (LogRecord) throws -> Void) throws {
        let records = span
        for place in records.indices { try body(records[place]) }
    }
}

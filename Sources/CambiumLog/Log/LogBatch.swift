package import CambiumModel
package import CambiumProofs

/// Transactions that were read together, with the results of the work that was done on them before they are used.
package struct LogBatch: Sendable {
    /// Work that a thread which reads ahead takes over from the user of the transactions.
    package struct Preparation: OptionSet, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The `leafHash` of each record is computed.
        package static let leafHashes = Preparation(rawValue: 1)
        /// The ops of small transactions are decoded.
        package static let ops = Preparation(rawValue: 2)
        /// The `leafContent` of each record is computed.
        package static let leafContents = Preparation(rawValue: 4)
    }

    package internal(set) var records: [LogRecord] = []
    /// The `leafHash` of each record, if the hashes were requested.
    package private(set) var leafHashes: [TreeHash] = []
    /// The `leafContent` of each record, if the contents were requested.
    package private(set) var leafContents: [[UInt8]] = []
    /// The decoded ops of all small transactions, in order.
    package private(set) var ops: [Op] = []
    /// The cells that the ops in `ops` set, as far as they can be prefetched.
    package private(set) var targets: [OpTarget?] = []
    /// For each record, the places of its ops in `ops`; `nil` if they are not decoded.
    private var opPlaces: [Range<Int32>?] = []
    /// The number of bytes of the ops of all records.
    private(set) var opsByteCount = 0

    /// The maximum number of bytes of ops that are decoded. It bounds the memory of the decoded ops, which may take more than ten times as
    /// much.
    private static let decodedByteCountMax = 1 << 20

    init() {}

    /// Does the requested work. If a leaf cannot be computed, removes its record and all later ones, and returns the error.
    mutating func prepare(_ preparation: Preparation) -> (any Error)? {
        let failure = makeLeaves(preparation)
        opsByteCount = 0
        for place in records.indices { opsByteCount += records[place].opsByteCount }
        if preparation.contains(.ops) { decodeOps() }
        return failure
    }

    private mutating func makeLeaves(_ preparation: Preparation) -> (any Error)? {
        for place in records.indices {
            do {
                if preparation.contains(.leafHashes) { leafHashes.append(try records[place].leafHash()) }
                if preparation.contains(.leafContents) { leafContents.append(try records[place].leafContent()) }
            } catch {
                records.removeSubrange(place...)
                return error
            }
        }
        return nil
    }

    private mutating func decodeOps() {
        opPlaces.reserveCapacity(records.count)
        var byteCount = 0
        for place in records.indices {
            guard case .present(let payload) = records[place].payload, byteCount + payload.count <= Self.decodedByteCountMax else {
                opPlaces.append(nil)
                continue
            }
            byteCount += payload.count
            let begin = Int32(ops.count)
            opPlaces.append(OpCodec.decodeSmall(payload, into: &ops) ? begin..<Int32(ops.count) : nil)
        }
        targets.reserveCapacity(ops.count)
        for place in ops.indices { targets.append(ops[place].target) }
    }

    /// Returns the places in `ops` of the ops of a record. Returns `nil` if the ops must still be decoded.
    package func opPlaces(of record: Int) -> Range<Int>? {
        guard record < opPlaces.count, let places = opPlaces[record] else { return nil }
        return Int(places.lowerBound)..<Int(places.upperBound)
    }

    /// Empties the batch, and keeps its memory.
    mutating func removeAll() {
        records.removeAll(keepingCapacity: true)
        leafHashes.removeAll(keepingCapacity: true)
        leafContents.removeAll(keepingCapacity: true)
        ops.removeAll(keepingCapacity: true)
        targets.removeAll(keepingCapacity: true)
        opPlaces.removeAll(keepingCapacity: true)
    }

    /// Prepares the records that a scan has read, and passes them to `body`, on the same thread.
    static func pass(_ records: inout [LogRecord], preparing preparation: Preparation, _ body: (LogBatch) throws -> Void) throws {
        var batch = LogBatch()
        batch.records = records
        let failure = batch.prepare(preparation)
        try body(batch)
        if let failure { throw failure }
    }
}

import CambiumBytes
public import CambiumModel

/// Reads the log of a store and judges how it ends. It writes nothing.
public struct LogReader {
    public static let directory = "log"

    public let volume: any Volume
    public let settings: StoreSettings
    let head: Head?
    /// The segments by their first transactions, ascending.
    let segments: [TransactionNumber]
    /// What is wrong, and does no harm: a damaged slot of HEAD, a file that is not one of ours.
    public let flaws: [String]

    /// Throws `.notFound` where there is no store, `.damaged` where its settings cannot be read.
    public init(_ volume: any Volume) throws(CambiumError) {
        guard try volume.exists(StoreSettings.fileName) else {
            throw CambiumError(.notFound, "There is no store at '\(volume.name)'. 'cambium init' makes one.")
        }
        let settings = try StoreSettings.decode(try volume.bytes(of: StoreSettings.fileName), file: StoreSettings.fileName)
        try self.init(volume, settings: settings)
    }

    /// The settings that a store's first segment tells, where its own cannot be read. Throws `.damaged` where that neither can.
    public static func settingsTold(by volume: any Volume) throws(CambiumError) -> StoreSettings {
        let path = path(TransactionNumber(rawValue: 1))
        do {
            let reader = try SegmentReader(volume, path: path)
            return StoreSettings(store: reader.header.store, creationTime: reader.header.creationTime, durability: .synced)
        } catch {
            throw CambiumError(.damaged, "Neither the settings nor the first segment can be read (\(error)).", place: .init(file: path))
        }
    }

    /// Reads the log of a store whose settings are known.
    public init(_ volume: any Volume, settings: StoreSettings) throws(CambiumError) {
        self.volume = volume
        self.settings = settings
        var flaws: [String] = []
        if try volume.exists(Head.fileName) {
            let (head, headFlaws) = Head.newest(try volume.bytes(of: Head.fileName), store: settings.store)
            self.head = head
            flaws += headFlaws.map { "\(Head.fileName): \($0)" }
        } else {
            head = nil
            flaws.append("\(Head.fileName) is missing")
        }
        var segments: [TransactionNumber] = []
        for name in try volume.list(Self.directory) {
            if let first = SegmentHeader.firstTransaction(fileName: name) {
                segments.append(first)
            } else {
                flaws.append("\(Self.directory)/\(name) is not a file of the log")
            }
        }
        self.segments = segments.sorted()
        self.flaws = flaws
    }

    static func path(_ segment: TransactionNumber) -> String { directory + "/" + SegmentHeader.fileName(segment) }

    /// Where the log ends, and what is behind its end.
    public struct End: Sendable {
        public enum Verdict: Sendable, Equatable {
            case clean
            /// Bytes behind the last frame that verifies, none of which were known durable.
            case tornTail(file: String, offset: Int, byteCount: Int)
            /// A segment whose making was interrupted.
            case tornCreation(file: String)
        }

        public var verdict = Verdict.clean
        public var lastTransaction = TransactionNumber.none
        /// Microseconds since 1970; the creation time of the store where there is no transaction.
        public var lastTime: Int64
        /// Bytes of the segments, up to the last frame that verifies.
        public var byteCount = 0
        public var segmentCount = 0
        /// The tree over all transactions that were read.
        var tail: SegmentTail?
    }

    /// The state in which the last segment is gone on with.
    struct SegmentTail: Sendable {
        let header: SegmentHeader
        let headerChecksum: UInt32
        let position: Int
        let lastChecksum: UInt32
        /// Up to where HEAD or a frame says that the segment was durable.
        let durableOffset: Int
        let codec: TransactionCodec
    }

    /// Calls `body` with every transaction from `first` on, in order.
    ///
    /// Throws `.damaged` where the log is corrupt, after `body` has seen all that verifies before the damage; and what `body`
    /// throws. FORMAT.md 8 has the table of cases. Complexity: O(bytes of the segments from the one with `first` on).
    ///
    /// - Parameter makesDurable: whether what is read is made durable first, so that nobody acts on what a loss of power may take
    ///   from a process that writes beside this one.
    public func scan(
        from first: TransactionNumber = TransactionNumber(rawValue: 1), makesDurable: Bool = false,
        _ body: (LogRecord) throws -> Void
    ) throws -> End {
        guard let start = segments.lastIndex(where: { $0 <= first }) ?? segments.indices.first else { return try emptyEnd() }
        var end = End(lastTime: settings.creationTime)
        for index in start..<segments.count {
            let isLast = index == segments.count - 1
            let path = Self.path(segments[index])
            guard var reader = try openSegment(index, path, isLast, &end) else { break }
            if isLast, makesDurable { try reader.sync() }
            if index == 0, reader.header.firstTransaction.rawValue != 1 {
                throw damage(path, 0, end, "The segment begins with transaction \(segments[index]), and those before it are missing.")
            }
            if index > start, reader.header.firstTransaction != end.lastTransaction.next {
                let wanted = end.lastTransaction.next
                throw damage(path, 0, end, "The segment begins with transaction \(segments[index]), and \(wanted) is missing.")
            }
            if index > start, reader.header.previousChecksum != end.tail?.lastChecksum ?? 0 {
                throw damage(path, 0, end, "The segment does not follow the one before.")
            }
            try scan(&reader, from: first, &end, body)
            if !reader.isAtEnd, !isLast { throw damage(path, reader.offset, end, "A frame does not verify.") }
            if isLast { try judgeTail(&reader, &end) }
            end.segmentCount += 1
            end.byteCount += reader.offset
        }
        return end
    }

    private func scan(
        _ reader: inout SegmentReader, from first: TransactionNumber, _ end: inout End, _ body: (LogRecord) throws -> Void
    ) throws {
        end.lastTransaction = TransactionNumber(rawValue: reader.header.firstTransaction.rawValue - 1)
        while let records = try reader.nextFrame() {
            for record in records {
                if record.number >= first { try body(record) }
                end.lastTransaction = record.number
                end.lastTime = record.metadata.time
            }
        }
        end.tail = SegmentTail(
            header: reader.header, headerChecksum: reader.headerChecksum, position: reader.offset,
            lastChecksum: reader.lastChecksum == 0 ? reader.header.previousChecksum : reader.lastChecksum,
            durableOffset: max(reader.durableOffset, toldByHead(reader.header.firstTransaction)), codec: reader.codec)
    }

    // MARK: Judging

    private func emptyEnd() throws -> End {
        throw CambiumError(.damaged, "The log has no segments.", place: .init(file: Self.directory))
    }

    /// Opens a segment; nil for the last one where its making was interrupted.
    private func openSegment(
        _ index: Int, _ path: String, _ isLast: Bool, _ end: inout End
    ) throws -> SegmentReader? {
        do {
            let reader = try SegmentReader(volume, path: path)
            guard reader.header.store == settings.store else { throw damage(path, 0, end, "The segment is of another store.") }
            guard reader.header.firstTransaction == segments[index] else {
                throw damage(path, 0, end, "The segment is not the one that its name tells.")
            }
            return reader
        } catch let error as DecodingError {
            let byteCount = try volume.byteCount(of: path)
            let isDurable = head.map { $0.segment == segments[index] } ?? false
            guard isLast, index > 0, byteCount <= Format.Segment.headerByteCount, !isDurable else {
                throw damage(path, error.offset, end, "The segment's header does not verify (\(error)).")
            }
            end.verdict = .tornCreation(file: path)
            return nil
        }
    }

    private func judgeTail(_ reader: inout SegmentReader, _ end: inout End) throws {
        let segment = reader.header.firstTransaction
        if let head, !segments.contains(head.segment) {
            throw damage(Self.path(head.segment), 0, end, "The segment is missing, and \(Head.fileName) names it.")
        }
        let told = toldByHead(segment)
        if told > reader.offset {
            throw damage(reader.path, reader.offset, end, "The log was durable up to offset \(told), and no frame verifies here.")
        }
        if let head, head.lastTransaction > end.lastTransaction || (head.isClosed && (head.segment != segment || told != reader.offset)) {
            throw damage(reader.path, reader.offset, end, "The log does not end where \(Head.fileName) says that it was closed.")
        }
        if try reader.isAtEnd || reader.isRoomBehind() { return }
        let toldBehind = try reader.durableOffsetToldBehind()
        if toldBehind > reader.offset {
            throw damage(
                reader.path, reader.offset, end,
                "A later frame says that the log was durable up to offset \(toldBehind), and no frame verifies here.")
        }
        end.verdict = .tornTail(file: reader.path, offset: reader.offset, byteCount: reader.byteCount - reader.offset)
    }

    /// The offset up to which HEAD says that a segment was durable.
    private func toldByHead(_ segment: TransactionNumber) -> Int {
        head.flatMap { $0.segment == segment ? Int(clamping: $0.position) : nil } ?? 0
    }

    private func damage(_ path: String, _ offset: Int, _ end: End, _ what: String) -> CambiumError {
        CambiumError(
            .damaged,
            "\(what) Everything up to transaction \(end.lastTransaction) verifies; nothing was changed. Restore the store from a backup.",
            place: .init(file: "\(volume.name)/\(path) offset \(offset)"))
    }
}

extension Volume {
    /// Everything in a small file.
    func bytes(of path: String) throws(CambiumError) -> [UInt8] {
        let file = try open(path, .read)
        defer { file.close() }
        let byteCount = try file.byteCount()
        guard byteCount <= 1 << 20 else { throw CambiumError(.damaged, "The file has more than 1 MiB.", place: .init(file: path)) }
        return try file.read(at: 0, count: byteCount)
    }

    func byteCount(of path: String) throws(CambiumError) -> Int {
        let file = try open(path, .read)
        defer { file.close() }
        return try file.byteCount()
    }
}

/// Computes the root of the tree over a log, transaction by transaction.
public struct LogTree: Sendable {
    private var tree = MerkleTree()

    public init() {}

    public mutating func append(_ record: LogRecord) { tree.append(leafHash: record.leafHash()) }

    /// 32 bytes.
    public var root: [UInt8] { tree.root }
}

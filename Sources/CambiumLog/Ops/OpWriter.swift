import CambiumBytes
public import CambiumModel

/// Encodes the ops of a transaction as they come. Those of a large one go into a file of their own, so that all of them need not
/// be in memory at once.
public struct OpWriter {
    private var writer = ByteWriter()
    public private(set) var opCount = 0
    private let log: LogWriter?
    private let transaction: TransactionNumber
    /// One object, however often the writer is moved.
    private var overflow: Overflow?

    /// What is kept of a transaction that is too large for memory.
    private final class Overflow {
        /// Nil where it could not be made or written.
        var file: OpsFileWriter?
        /// Ops that are in the file.
        var opCount = 0
        /// Why there is no file.
        var failure: CambiumError?
    }

    /// Throws `.ioFailure` if the file of ops could not be written: the ops are lost then.
    public func check() throws(CambiumError) {
        if let failure = overflow?.failure { throw failure }
    }

    /// For a store that has no log: the ops are counted only.
    public init() {
        log = nil
        transaction = .none
    }

    /// - Parameter transaction: the number of the transaction that the ops are of.
    init(log: LogWriter, _ transaction: TransactionNumber) {
        self.log = log
        self.transaction = transaction
    }

    /// Where the ops' file cannot be written, `finish` tells.
    public mutating func append(_ op: Op) {
        opCount += 1
        guard let log else { return }
        if opCount == 1 { writer = ByteWriter(capacity: 64) }
        OpCodec.encode(op, to: &writer)
        guard writer.count >= (overflow == nil ? log.tuning.largeByteCount : log.tuning.opsFrameByteCount) else { return }
        relieve(log)
    }

    /// Moves what is in memory to the file.
    private mutating func relieve(_ log: LogWriter) {
        let overflow = self.overflow ?? Overflow()
        do throws(CambiumError) {
            if overflow.failure == nil {
                if overflow.file == nil { overflow.file = try log.makeOpsFile(transaction) }
                try overflow.file?.append(writer.bytes, opCount: opCount - overflow.opCount)
            }
        } catch {
            overflow.failure = error
            overflow.file = nil
        }
        overflow.opCount = opCount
        self.overflow = overflow
        writer.removeAll(keepingAtMost: log.tuning.largeByteCount)
    }

    /// What is to be staged. What is in a file is durable when this returns.
    ///
    /// Throws `.ioFailure` where the file cannot be written, `.limitExceeded` where one op is too large for it.
    public consuming func finish() throws(CambiumError) -> EncodedOps {
        guard let overflow else { return EncodedOps(payload: .present(writer.bytes[...]), file: nil) }
        try check()
        guard let file = overflow.file else { preconditionFailure("What is not in memory is in a file, or could not be.") }
        if writer.count > 0 { try file.append(writer.bytes, opCount: opCount - overflow.opCount) }
        return EncodedOps(payload: .file(try file.finish()), file: file)
    }
}

/// The ops of a transaction that is about to be staged. A file of them that is not staged is removed.
public struct EncodedOps: Sendable {
    public let payload: Payload
    let file: OpsFileWriter?

    init(payload: Payload, file: OpsFileWriter?) {
        self.payload = payload
        self.file = file
    }

    /// Ops that are in memory.
    public init(_ bytes: [UInt8]) { self.init(payload: .present(bytes[...]), file: nil) }
}

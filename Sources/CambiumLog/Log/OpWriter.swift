import CambiumBytes
package import CambiumModel

/// An encoder for the ops of one transaction, which arrive one at a time. The ops of a large transaction go to a separate file, so that
/// they need not all be in memory at the same time.
package struct OpWriter {
    private var writer = ByteWriter()
    package private(set) var opCount = 0
    /// The work of replaying the ops, as far as the ops themselves state it. A store without a log replays nothing, so it counts nothing.
    package private(set) var replayWork = 0
    /// The object of the first op (`Op.subject`).
    package private(set) var firstSubject: ObjectID?
    private let log: LogWriter?
    private let transaction: TransactionNumber
    /// The state of a large transaction; `nil` before its ops go to a file. `Overflow` is a class, so that moving the writer does not copy
    /// this state.
    private var overflow: Overflow?

    /// The state of a transaction that is too large for memory.
    private final class Overflow {
        /// The file of the ops; `nil` if it could not be created or written.
        var file: OpsFileWriter?
        /// The number of ops in the file.
        var opCount = 0
        /// The reason why there is no file.
        var failure: CambiumError?
    }

    /// Checks that the file of ops could be written. If not, throws `.ioFailure`, and the ops are lost.
    package func check() throws(CambiumError) {
        if let failure = overflow?.failure { throw failure }
    }

    /// Creates a writer for a store without a log. The writer only counts the ops.
    package init() {
        log = nil
        transaction = .none
    }

    /// - Parameter transaction: the number of the transaction to which the ops belong.
    init(log: LogWriter, _ transaction: TransactionNumber) {
        self.log = log
        self.transaction = transaction
    }

    /// Appends an op. If the file of ops cannot be written, `finish` throws.
    package mutating func append(_ op: Op) {
        opCount += 1
        if opCount == 1 { firstSubject = op.subject }
        guard let log else { return }
        replayWork += op.replayWork
        if opCount == 1 { writer = ByteWriter(capacity: 64) }
        OpCodec.encode(op, to: &writer)
        guard writer.count >= (overflow == nil ? log.tuning.largeByteCount : log.tuning.opsFrameByteCount) else { return }
        relieve(log)
    }

    /// Moves the ops in memory to the file of ops. Creates the file at the first call.
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

    /// Returns the ops for staging. If the ops are in a file, the content of the file is durable when this method returns.
    ///
    /// Throws `.ioFailure` if the file cannot be written, and `.limitExceeded` if one op is too large for the file.
    package consuming func finish() throws(CambiumError) -> EncodedOps {
        guard let overflow else { return EncodedOps(payload: .present(writer.bytes[...]), file: nil) }
        try check()
        guard let file = overflow.file else {
            preconditionFailure("Ops that are not in memory are in a file, unless writing the file failed.")
        }
        if writer.count > 0 { try file.append(writer.bytes, opCount: opCount - overflow.opCount) }
        return EncodedOps(payload: .file(try file.finish()), file: file)
    }
}

/// The ops of a transaction that is about to be staged. If they are not staged, their file is removed.
package struct EncodedOps: Sendable {
    package let payload: Payload
    let file: OpsFileWriter?

    init(payload: Payload, file: OpsFileWriter?) {
        self.payload = payload
        self.file = file
    }

    /// Creates a value from the bytes of ops in memory.
    package init(_ bytes: [UInt8]) { self.init(payload: .present(bytes[...]), file: nil) }
}

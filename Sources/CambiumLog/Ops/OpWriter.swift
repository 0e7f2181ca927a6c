import CambiumBytes
public import CambiumModel

/// Encodes the ops of a transaction as they come. Those of a large one go into a file of their own, so that all of them need not
/// be in memory at once.
public struct OpWriter {
    private var writer = ByteWriter()
    public private(set) var opCount = 0
    private let keepsOps: Bool
    private let tuning: LogTuning
    private let makeFile: (() throws(CambiumError) -> OpsFileWriter)?
    private var file: OpsFileWriter?
    /// Ops that are not in the file yet.
    private var waitingCount = 0
    /// Why there is no file of the ops.
    private var failure: CambiumError?

    /// - Parameter keepsOps: false where nobody needs the bytes: then the ops are counted only.
    public init(keepsOps: Bool = true) {
        self.keepsOps = keepsOps
        makeFile = nil
        tuning = .standard
    }

    init(_ tuning: LogTuning, makeFile: @escaping () throws(CambiumError) -> OpsFileWriter) {
        keepsOps = true
        self.tuning = tuning
        self.makeFile = makeFile
    }

    /// Where the file cannot be written, `finish` tells.
    public mutating func append(_ op: Op) {
        opCount += 1
        if !keepsOps || failure != nil { return }
        OpCodec.encode(op, to: &writer)
        waitingCount += 1
        guard makeFile != nil, writer.count >= (file == nil ? tuning.largeByteCount : tuning.opsFrameByteCount) else { return }
        do throws(CambiumError) {
            try relieve()
        } catch {
            failure = error
            file = nil
        }
        writer.removeAll(keepingAtMost: tuning.largeByteCount)
        waitingCount = 0
    }

    private mutating func relieve() throws(CambiumError) {
        guard writer.count <= Format.Frame.payloadByteCountMax else {
            throw CambiumError(
                .limitExceeded,
                "One change takes at most \(Format.Frame.payloadByteCountMax >> 20) MiB of log; this one has \(writer.count >> 20).")
        }
        if file == nil { file = try makeFile?() }
        try file?.append(writer.bytes, opCount: waitingCount)
    }

    /// What is to be staged. What is in a file is durable when this returns.
    ///
    /// Throws `.ioFailure` where the file cannot be written, `.limitExceeded` where one op is too large for it.
    public consuming func finish() throws(CambiumError) -> EncodedOps {
        if let failure { throw failure }
        guard let file else { return EncodedOps(payload: .present(writer.bytes[...]), file: nil) }
        if waitingCount > 0 { try file.append(writer.bytes, opCount: waitingCount) }
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

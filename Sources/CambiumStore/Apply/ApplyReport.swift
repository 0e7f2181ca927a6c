package import CambiumJSON
public import CambiumModel

/// The outcome of applying the changes of one store to another.
///
/// ```swift
/// let report = try Store.apply(from: "notes", to: "mirror")
/// print(report.appliedCount, report.presentCount, report.lastTransaction)
/// ```
public struct ApplyReport: Sendable {
    /// The number of transactions that were written to the target.
    public internal(set) var appliedCount = 0
    /// The number of the source's transactions that the target already had.
    public internal(set) var presentCount = 0
    /// The number of transactions that were written with a later time than in the source. If a transaction is earlier than the preceding
    /// transaction of the target, it gets the time of that preceding transaction.
    package internal(set) var laterTimeCount = 0
    /// The last transaction, which is the same in both stores after the run.
    public internal(set) var lastTransaction = TransactionNumber.none
    package internal(set) var objectCount = 0
    package internal(set) var linkCount = 0
    /// The digest of the target's graph, which was compared with the digest of the source's graph.
    public internal(set) var digest = GraphDigest(high: 0, low: 0)

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("transaction", lastTransaction == .none ? nil : lastTransaction.rawValue)
            writer.member("applied", appliedCount)
            writer.member("present", presentCount)
            writer.member("laterTimes", laterTimeCount)
            writer.member("objects", objectCount)
            writer.member("links", linkCount)
            writer.member("digest", digest.description)
        }
    }
}

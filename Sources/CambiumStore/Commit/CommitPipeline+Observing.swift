import CambiumGraph
import CambiumModel

/// A transaction whose version is kept, because an observer wants each transaction separately.
struct ObservedCommit {
    /// The version on which the transaction builds.
    let before: Graph
    let metadata: TransactionMetadata

    init(before: Graph, _ metadata: TransactionMetadata) { (self.before, self.metadata) = (before, metadata) }
}

extension CommitPipeline {
    /// Keeps the version of a transaction for observers. Call this method only while the writer's lock is held, before readers see the
    /// version.
    ///
    /// - Parameter isConfirmed: whether the version before the transaction can no longer be rolled back.
    func keep(_ graph: Graph, _ observed: ObservedCommit, isConfirmed: Bool) {
        writer.recent.add(graph, after: observed.before, isConfirmed: isConfirmed, observed.metadata) {
            writer.timeline.supersededByteCount(of: $0)
        }
    }

    /// Records the total size of the pages that a transaction replaced, in bytes. Call this method only while the writer's lock is held,
    /// after the version of the transaction was published.
    func trackSupersededBytes(_ observed: ObservedCommit) {
        let byteCount = writer.timeline.supersededByteCount(of: observed.before)
        writer.recent.track(byteCount: byteCount, supersededFrom: observed.before.transaction)
    }
}

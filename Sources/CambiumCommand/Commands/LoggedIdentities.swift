import Cambium

/// The identities of the objects that the ops of a log name, for human readers.
///
/// An op contains only ids. So the identity is read from the newest graph, or, if the object no longer exists, from a graph directly before
/// or after the transaction.
final class LoggedIdentities {
    private let past: EarlierGraphs
    private var newest: Graph?

    init(of store: String) { past = EarlierGraphs(of: store) }

    /// Returns the identity of an object that a transaction names; `nil` if the object has no identity, or if no graph with the object can
    /// be read.
    func identity(of id: ObjectID, in transaction: TransactionNumber) -> String? {
        if newest.map({ $0.transaction < transaction }) ?? true { newest = graph(.latest) }
        if let newest, newest.contains(id) { return newest.identityText(of: id) }
        let moments = [transaction.rawValue - min(1, transaction.rawValue), transaction.rawValue].map(TransactionNumber.init(rawValue:))
        return moments.lazy.compactMap { self.graph(.transaction($0))?.identityText(of: id) }.first
    }

    /// Returns the graph of a moment. The list of ops is complete without identities, so a moment that cannot be read is not an error.
    private func graph(_ point: Point) -> Graph? { try? past.graph(at: point) }
}

import CambiumBytes
internal import CambiumModel

/// The joints of open segments that readers of a log have found. An open segment has no index. A reader that begins with a later
/// transaction jumps from a known joint over the frames that follow, to the last joint before the transaction.
///
/// A known joint is a hint: a reader verifies its frame before it begins there. Any thread may use this object.
final class KnownJoints: Sendable {
    /// A frame that is probably a joint.
    struct Place {
        /// The last transaction before the joint.
        let transaction: TransactionNumber
        let offset: Int
    }

    private struct State {
        /// For each segment, by the checksum of its header, the joints in ascending order.
        var places: [UInt32: [Place]] = [:]
        /// The checkpoints, newest first; `nil` until they are needed.
        var checkpoints: [TransactionNumber]?
        /// The checkpoints whose records were read.
        var known: Set<TransactionNumber> = []
    }

    private let state = Guarded(State())

    /// Returns the last known joint before a transaction.
    func last(before transaction: TransactionNumber, headerChecksum: UInt32) -> Place? {
        state.withLock { state in
            state.places[headerChecksum].flatMap { places in
                let end = Self.count(places, before: transaction)
                return end > 0 ? places[end - 1] : nil
            }
        }
    }

    /// Adds joints of one segment. Keeps their order.
    func add(_ places: [Place], headerChecksum: UInt32) {
        state.withLock { state in
            for place in places {
                let index = Self.count(state.places[headerChecksum, default: []], before: place.transaction)
                let own = state.places[headerChecksum, default: []]
                if index < own.count, own[index].transaction == place.transaction { continue }
                state.places[headerChecksum, default: []].insert(place, at: index)
            }
        }
    }

    /// Returns the newest checkpoint before a transaction, unless an earlier call returned it.
    ///
    /// - Parameter list: returns all checkpoints, newest first.
    func unknownCheckpoint(
        before transaction: TransactionNumber, _ list: () throws(CambiumError) -> [TransactionNumber]
    ) throws(CambiumError) -> TransactionNumber? {
        let listed = state.withLock { $0.checkpoints }
        let checkpoints = if let listed { listed } else { try list() }
        return state.withLock { state in
            state.checkpoints = checkpoints
            guard let found = checkpoints.first(where: { $0 < transaction }) else { return nil }
            return state.known.insert(found).inserted ? found : nil
        }
    }

    /// Returns the number of joints before a transaction.
    private static func count(_ places: [Place], before transaction: TransactionNumber) -> Int {
        places.indices.prefixEnd { places[$0].transaction < transaction }
    }
}

public import CambiumModel

/// The underlying error of `.cyclic`: links that lead from an object back to the same object.
public struct LinkCycle: Error, Sendable, Hashable {
    /// The objects of the cycle. Each has a link to the next one, and the last one has a link to the first one.
    public let objects: [ObjectID]
}

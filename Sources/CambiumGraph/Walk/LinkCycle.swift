public import CambiumModel

/// The underlying error of `.cyclic`: a cycle of links, which leads from an object back to the same object.
///
/// ```swift
/// do {
///     print(try graph.walk(along: ["dependencies"]).topologicalOrder())
/// } catch {
///     print(error.message, (error.underlying as? LinkCycle)?.objects ?? [])
/// }
/// ```
public struct LinkCycle: Error, Sendable, Hashable {
    /// The objects of the cycle. Each has a link to the next object, and the last has a link to the first.
    public let objects: [ObjectID]
}

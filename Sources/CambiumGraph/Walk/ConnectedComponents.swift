public import CambiumModel

/// The weakly connected components of a graph. Two objects are in one component if a chain of links connects them, whatever the direction
/// of each link.
///
/// ```swift
/// let components = try graph.walk(along: ["follows"]).components()
/// print(components.sizes.count, components.sizes.first ?? 0)
/// ```
///
/// The components contain the objects of the entities at both ends of the relationships. A walk along all relationships has all
/// objects of the graph in its components. An object without links is a component by itself.
public struct ConnectedComponents: Sendable {
    /// The number of objects in each component, descending. The index in this array is the number of the component. The order of components
    /// of equal size has no meaning.
    public let sizes: [Int]
    private let graph: Graph
    /// For each table and row, the number of the component, or `noComponent`.
    private let numbers: [[UInt32]]

    static let noComponent = UInt32.max

    init(_ graph: Graph, numbers: [[UInt32]], sizes: [Int]) {
        (self.graph, self.numbers, self.sizes) = (graph, numbers, sizes)
    }

    /// Returns the number of an object's component. Returns `nil` if the object does not exist, or if its entity is at neither end of the
    /// relationships. Complexity: O(log serials).
    public func component(of id: ObjectID) -> Int? {
        guard let place = graph.place(of: id), Int(place.row) < numbers[Int(place.table)].count else { return nil }
        let number = numbers[Int(place.table)][Int(place.row)]
        return number == Self.noComponent ? nil : Int(number)
    }

    /// Returns the ids of the objects of a component, ascending. Returns no ids if there is no such component. Complexity: O(objects of all
    /// components).
    public func ids(of component: Int) -> [ObjectID] {
        guard sizes.indices.contains(component) else { return [] }
        let wanted = UInt32(component)
        var found: [ObjectID] = []
        for (table, numbers) in numbers.enumerated() {
            for (row, number) in numbers.enumerated() where number == wanted {
                found.append(graph.id(of: ObjectPlace(table: table, row: UInt32(row))))
            }
        }
        return found.sorted()
    }
}

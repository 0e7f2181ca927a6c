import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

/// The walks of a public benchmark, whose distances and components are known.
///
/// The graphs and the results are those of the validation data of LDBC Graphalytics (https://github.com/ldbc/ldbc_graphalytics), which has
/// the Apache License, Version 2.0. They are written here in another form: directed links from each number to a list, and the distances
/// from a start, where a missing number cannot be reached.
@Suite struct PublicWalkTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let isDirected: Bool
        let links: [Int: [Int]]
        var start = 1
        var distances: [Int: Int] = [:]
        var components: Set<Set<Int>> = []
    }

    static let cases = [
        Case(
            testDescription: "bfs, directed", isDirected: true,
            links: [1: [2, 3], 2: [3, 4, 5], 3: [1], 4: [6, 7, 8], 5: [2, 1], 6: [4, 8], 8: [1, 2, 3], 9: [10]],
            distances: [1: 0, 2: 1, 3: 1, 4: 2, 5: 2, 6: 3, 7: 3, 8: 3]),
        Case(
            testDescription: "bfs, undirected", isDirected: false,
            links: [1: [2, 3, 5, 8], 2: [3, 4, 5, 8], 3: [8], 4: [6, 7, 8], 6: [8], 9: [10]],
            distances: [1: 0, 2: 1, 3: 1, 4: 2, 5: 1, 6: 2, 7: 3, 8: 1]),
        Case(
            testDescription: "wcc, directed", isDirected: true, links: [1: [2, 3], 2: [1, 3, 4], 4: [2], 6: [7, 8], 7: [6], 9: [3]],
            components: [[1, 2, 3, 4, 9], [6, 7, 8]]),
        Case(
            testDescription: "wcc, undirected", isDirected: false, links: [1: [2, 3], 2: [3, 4], 3: [9], 6: [7, 8]],
            components: [[1, 2, 3, 4, 9], [6, 7, 8]]),
        Case(
            testDescription: "example, directed", isDirected: true,
            links: [1: [3, 5], 2: [4, 5, 10], 3: [1, 5, 8, 10], 5: [3, 4, 8], 6: [3, 4], 7: [4], 8: [1], 9: [4]],
            distances: [1: 0, 3: 1, 4: 2, 5: 1, 8: 2, 10: 2], components: [Set(1...10)]),
        Case(
            testDescription: "example, undirected", isDirected: false,
            links: [2: [3, 4], 3: [4, 5, 8], 5: [6, 8], 6: [7, 8, 9, 10], 7: [9]], start: 2,
            distances: [2: 0, 3: 1, 4: 1, 5: 2, 6: 3, 7: 4, 8: 2, 9: 4, 10: 4], components: [Set(2...10)]),
    ]

    private static func walk(_ each: Case) throws -> (walk: Walk, root: EntityNumber) {
        let schema = try Schema(
            SchemaDefinition {
                EntityDefinition("Node") {
                    RelationshipDefinition("directed", to: "Node", .toMany)
                    RelationshipDefinition("undirected", to: "Node", .toMany, inverse: "undirected")
                }
            })
        let node = try schema.required("Node")
        let name = each.isDirected ? "directed" : "undirected"
        let relationship = try node.requiredRelationship(name)
        let numbers = Set(each.links.flatMap { [$0.key] + $0.value })
        func id(_ number: Int) -> ObjectID { ObjectID(root: node.root, serial: UInt64(number)) }
        let timeline = Timeline()
        let inserts = numbers.sorted().map { Op.insert(id($0), entity: node.number, []) }
        let links = each.links.flatMap { source, targets in
            targets.map { Op.link(id(source), relationship.number, target: id($0), index: nil) }
        }
        try ProgramRun.commit([.schema(schema.catalog)] + inserts + links, to: timeline)
        return (try timeline.head.walk(along: [name]), node.root)
    }

    @Test(arguments: cases.filter { !$0.distances.isEmpty }) func `a walk has the distances of the benchmark`(each: Case) throws {
        let (walk, root) = try Self.walk(each)
        let start = ObjectID(root: root, serial: UInt64(each.start))
        let found = try walk.objects(from: [start]).map { (Int($0.id.serial), $0.distance) }
        #expect(Dictionary(uniqueKeysWithValues: found) == each.distances)
        for (number, distance) in each.distances {
            #expect(try walk.path(from: start, to: ObjectID(root: root, serial: UInt64(number)))?.count == distance + 1)
        }
    }

    @Test(arguments: cases.filter { !$0.components.isEmpty }) func `the components are those of the benchmark`(each: Case) throws {
        let components = try Self.walk(each).walk.components()
        #expect(components.ids(of: -1).isEmpty && components.ids(of: components.sizes.count).isEmpty)
        let found = (0..<components.sizes.count).map { Set(components.ids(of: $0).map { Int($0.serial) }) }
        #expect(Set(found) == each.components)
    }
}

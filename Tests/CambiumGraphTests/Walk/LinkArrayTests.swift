import CambiumModel
import Testing

@testable import CambiumGraph

@Suite struct LinkArrayTests {
    private func walk(_ name: String, linkCount: Int = 900) throws -> Walk {
        try WalkFixture.graph(seed: 7, count: 60, linkCount: linkCount).walk(along: [name])
    }

    private func parties(_ walk: Walk) throws -> [ObjectID] {
        Array(walk.graph.objects(of: try walk.graph.schema.required("Party")))
    }

    @Test(arguments: ["follows", "followers", "friends", "staff", "ranks", "likes", "parts"])
    func `an array has the targets that following the links finds`(name: String) throws {
        let walk = try walk(name)
        let (reader, layout) = (walk.graph.reader, walk.graph.layout)
        var linkCount = 0
        for steps in [walk.steps, walk.backwardSteps] {
            for number in layout.tables.indices.flatMap({ Array(steps.range(UInt32($0))) }) where steps[number].isToMany {
                let step = steps[number]
                let array = LinkArray(step, reader, layout)
                var cursor = StepCursor(step, reader)
                for row in (0..<UInt32(reader.rowCountEnd(step.ownerTable))) where reader.rows(step.ownerTable).isLive(row) {
                    var (followed, listed) = ([UInt32](), [UInt32]())
                    _ = cursor.forEach(of: row) {
                        followed.append($0)
                        return true
                    }
                    _ = array.forEach(of: row) {
                        listed.append($0)
                        return true
                    }
                    #expect(listed.count == array.count(of: row))
                    // The array at the second end of a symmetric relationship also has links of an object to itself.
                    #expect(listed.filter { $0 != row }.sorted() == followed.filter { $0 != row }.sorted(), "\(name), row \(row)")
                    #expect(Set(listed).isSuperset(of: followed))
                    linkCount += followed.count
                }
            }
        }
        #expect(linkCount > 20)
    }

    @Test func `a visit of an array ends when the visitor wants no more targets`() throws {
        let walk = try walk("follows")
        let number = try #require(walk.steps.range(0).first)
        let array = LinkArray(walk.steps[number], walk.graph.reader, walk.graph.layout)
        let row = try #require((0..<60).first { array.count(of: $0) > 1 })
        var count = 0
        let isComplete = array.forEach(of: row) { _ in
            count += 1
            return false
        }
        #expect(!isComplete && count == 1)
    }

    @Test func `a walk makes its arrays after it has followed a part of its links`() throws {
        let walk = try walk("follows")
        let ids = try parties(walk)
        #expect(walk.steps.arrays(walk.graph).isEmpty)
        var before: [Set<ObjectID>] = []
        for id in ids { before.append(Set(try walk.objects(from: [id], within: 2).map(\.id))) }
        #expect(!walk.steps.arrays(walk.graph).isEmpty)
        for (id, expected) in zip(ids, before) { #expect(Set(try walk.objects(from: [id], within: 2).map(\.id)) == expected) }
        #expect(walk.backwardSteps.arrays(walk.graph).isEmpty)
        for id in ids { _ = try walk.path(from: ids[0], to: id) }
        for id in ids.reversed() { _ = try walk.path(from: id, to: ids[0]) }
        #expect(!walk.backwardSteps.arrays(walk.graph).isEmpty)
    }

    @Test func `a step with more links than an array may have is followed from row to row`() throws {
        let walk = try walk("follows")
        let steps = walk.graph.layout.tables.indices.flatMap { table in walk.steps.range(UInt32(table)).map { walk.steps[$0] } }
        let none = CollectedLinks(steps, walk.graph.reader, elementCountMax: 100)
        none.track(followedCount: 1 << 40)
        #expect(none.current(steps, walk.graph.reader, walk.graph.layout).isEmpty)
        let all = CollectedLinks(steps, walk.graph.reader)
        all.track(followedCount: 1 << 40)
        #expect(all.current(steps, walk.graph.reader, walk.graph.layout).contains { $0 != nil })
    }

    @Test func `walks in several tasks make the arrays once and find the same objects`() async throws {
        let walk = try walk("follows")
        let ids = try parties(walk)
        let expected = try ids.map { try walk.objects(from: [$0]).count }
        let other = try walk.graph.walk(along: ["follows"])
        try await withThrowingTaskGroup(of: [Int].self) { group in
            for _ in 0..<4 { group.addTask { try ids.map { try other.objects(from: [$0]).count } } }
            for try await counts in group { #expect(counts == expected) }
        }
        let arrays = other.steps.arrays(other.graph)
        #expect(!arrays.isEmpty && zip(arrays, other.steps.arrays(other.graph)).allSatisfy { $0 === $1 })
    }
}

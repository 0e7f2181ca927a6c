import CambiumGraph
import CambiumModel
import CambiumTesting
import Testing

/// Versions of a graph: those that are kept, drafts, and their release.
extension GraphTests {
    @Test func `a graph that is kept does not change while transactions commit`() throws {
        let fixture = try Fixture(boxes: 300, items: 10)
        let name = try #require(fixture.box.attribute("name"))
        let items = try #require(fixture.box.relationship("items"))
        let view = fixture.timeline.head
        let digest = view.digest()
        for number in 1...1000 {
            let id = fixture.box(number % 280 + 20)
            let ops: [Op] = [
                .set(id, [Assignment(name.number, .string("name \(number)"))]),
                .link(id, items.number, target: fixture.item(number % 10 + 1), index: 0),
            ]
            try ProgramRun.commit(number % 100 == 0 ? [.delete([fixture.box(1 + number / 100)])] : ops, to: fixture.timeline)
        }
        #expect(view.digest() == digest)
        #expect(view.objectCount == 310)
        #expect(fixture.timeline.pinnedVersionCount == 1)
        fixture.expectSound()
    }

    @Test func `two concurrent drafts do not see each other`() throws {
        let fixture = try Fixture(boxes: 300, items: 10)
        let name = try #require(fixture.box.attribute("name"))
        let items = try #require(fixture.box.relationship("items"))
        let digest = fixture.timeline.head.digest()
        var first = fixture.timeline.draft()
        var second = fixture.timeline.draft()
        for number in 1...200 {
            // Both drafts change the same objects in turn.
            let id = fixture.box(number)
            try first.apply(.set(id, [Assignment(name.number, .string("first \(number)"))]))
            try second.apply(.set(id, [Assignment(name.number, .string("second \(number)"))]))
            try first.apply(.link(id, items.number, target: fixture.item(1), index: nil))
            try second.apply(.delete([fixture.box(number + 90)]))
            #expect(first.value(of: name, of: id) == .string("first \(number)"))
            #expect(second.value(of: name, of: id) == (second.contains(id) ? .string("second \(number)") : nil))
            #expect(first.contains(fixture.box(number + 90)) && second.members(items, of: id) ?? [] == [])
            if number == 90 { break }
        }
        #expect(fixture.timeline.head.digest() == digest)
        let published = try fixture.timeline.publish(first)
        #expect(published.memberCount(published.end(items), of: try #require(published.place(of: fixture.box(7)))) == 1)
        do throws(CambiumError) {
            try fixture.timeline.publish(second)
            Issue.record("A draft that is not based on the newest version was published.")
        } catch {
            #expect(error.code == .notWritable)
        }
        #expect(fixture.timeline.head.digest() == published.digest())
        #expect(fixture.timeline.head.value(of: name, of: fixture.box(90)) == .string("first 90"))
        fixture.expectSound()
    }

    @Test func `versions are released in any order, and the pages that only they reach are freed`() throws {
        let fixture = try Fixture(boxes: 300, items: 10)
        let name = try #require(fixture.box.attribute("name"))
        var random = SplitMix64(seed: 4)
        var kept: [(graph: Graph, digest: GraphDigest)] = []
        var confirmed = fixture.timeline.head
        for number in 1...400 {
            var draft = fixture.timeline.draft()
            try draft.apply(.set(fixture.box(number % 290 + 1), [Assignment(name.number, .string("name \(number)"))]))
            let graph = try fixture.timeline.publish(draft, isUnconfirmed: true)
            if random.isTrue(1, outOf: 3) { kept.append((graph, graph.digest())) }
            if kept.count > 40 { kept.remove(at: Int.random(in: 0..<kept.count, using: &random)) }
            if random.isTrue(1, outOf: 7) {
                confirmed = graph
                fixture.timeline.confirm(graph)
            }
            if random.isTrue(1, outOf: 40) {
                kept.removeAll { $0.graph.transaction > confirmed.transaction }
                #expect(fixture.timeline.rollBack().transaction == confirmed.transaction)
            }
            if number % 50 == 0 {
                #expect(kept.allSatisfy { $0.graph.digest() == $0.digest })
                fixture.expectSound()
            }
        }
        fixture.timeline.confirm(fixture.timeline.head)
        #expect(fixture.timeline.pinnedVersionCount <= kept.count + 1)
        kept = []
        confirmed = fixture.timeline.head
        #expect(fixture.timeline.pinnedVersionCount == 0)
        fixture.expectSound()
    }

    @Test func `many versions that are released together free all of their pages`() throws {
        let (versionCount, share) = (500, 16)
        let fixture = try Fixture(boxes: versionCount * share)
        let content = try #require(fixture.box.attribute("content"))
        let bytes = [UInt8](repeating: 1, count: 300)
        func set(_ value: Value, in boxes: Range<Int>) throws {
            let ops = boxes.map { Op.set(fixture.box($0 + 1), [Assignment(content.number, value)]) }
            try ProgramRun.commit(ops, to: fixture.timeline)
        }
        try set(.data(bytes), in: 0..<versionCount * share)
        let used = fixture.timeline.pageByteCount
        var kept: [Graph] = []
        for number in 0..<versionCount {
            kept.append(fixture.timeline.head)
            try set(.null, in: number * share..<(number + 1) * share)
        }
        #expect(fixture.timeline.pinnedVersionCount == kept.count)
        kept = []
        #expect(fixture.timeline.pinnedVersionCount == 0)
        #expect(fixture.timeline.pageByteCount < used - versionCount * share * bytes.count)
        fixture.expectSound()
    }

    @Test func `unconfirmed versions can be rolled back and leave no pages`() throws {
        let fixture = try Fixture(boxes: 300, items: 10)
        let name = try #require(fixture.box.attribute("name"))
        func publish(_ number: Int) throws -> Graph {
            var draft = fixture.timeline.draft()
            try draft.apply(.set(fixture.box(number), [Assignment(name.number, .string("name \(number)"))]))
            try draft.apply(.delete([fixture.box(number + 100)]))
            return try fixture.timeline.publish(draft, isUnconfirmed: true)
        }
        let view = fixture.timeline.head
        let digest = view.digest()
        let used = fixture.timeline.pageByteCount
        for round in 1...20 {
            for number in 1...5 { _ = try publish(round * 5 - number + 1) }
            #expect(fixture.timeline.rollBack().digest() == digest && fixture.timeline.head.digest() == digest)
            fixture.expectSound()
        }
        #expect(view.digest() == digest && fixture.timeline.pageByteCount == used)
        // A confirmed version survives a rollback of later versions.
        let confirmed = try publish(1)
        let confirmedDigest = confirmed.digest()
        _ = try publish(2)
        fixture.timeline.confirm(confirmed)
        _ = try publish(3)
        #expect(fixture.timeline.rollBack().digest() == confirmedDigest)
        #expect(view.digest() == digest && fixture.timeline.rollBack().digest() == confirmedDigest)
        fixture.expectSound()
    }
}

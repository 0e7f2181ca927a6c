import Cambium
import CambiumModel
import Testing

@testable import CambiumEdits

/// The container of the objects that an edit changes.
@Suite struct EditObjectsTests {
    private let ids = (1...1_000).map { ObjectID(root: EntityNumber(rawValue: 3), serial: UInt64($0)) }

    @Test func `a change to a copy does not change the original`() {
        var original = EditObjects()
        for (number, id) in ids.enumerated() { original.change(id) { $0.deletion = number } }
        var copy = original
        copy.change(ids[5]) { $0.deletion = nil }
        copy.change(ids[6]) { $0.deletion = -1 }
        #expect(original[ids[5]]?.deletion == 5)
        #expect(original[ids[6]]?.deletion == 6)
        #expect(copy[ids[5]] == nil)
        #expect(copy[ids[6]]?.deletion == -1)
        #expect(copy[ids[7]]?.deletion == 7)
        #expect(original.keys.sorted() == ids)
        #expect(copy.keys.count == ids.count - 1)
    }

    @Test func `an object without changes is removed`() {
        var objects = EditObjects()
        #expect(objects.isEmpty)
        #expect(objects[ids[0]] == nil)
        objects.change(ids[0]) { $0.deletion = 1 }
        #expect(!objects.isEmpty)
        objects.change(ids[0]) { $0.deletion = nil }
        objects.change(ids[1]) { $0.deletion = nil }
        #expect(objects.isEmpty)
        #expect(objects.keys.isEmpty)
    }
}

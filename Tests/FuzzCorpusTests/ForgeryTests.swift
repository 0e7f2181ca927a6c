import Cambium
import FuzzTargets
import Testing

/// Stores whose logs and pages are forged, under checksums that fit.
@Suite struct ForgeryTests {
    private static let sample = Result { try ForgedSample() }

    @Test func `the sample opens from its checkpoint, and its pages are those that it has`() throws {
        let sample = try Self.sample.get()
        let (store, volume) = try ForgedSample.open(sample.files)
        #expect(store.recovery.notes == [] && store.recovery.checkpoint == sample.checkpoint && store.graph.digest() == sample.digest)
        try store.close()
        #expect(try Verification(volume).findings == [])
        let pages = try ForgedPages(sample.files)
        #expect(Set(pages.pages.map(\.kind)).isSuperset(of: [1, 2, 3, 4, 5, 6, 8, 9, 10, 11]))
        #expect(try pages.files() == sample.files && PageMutation.all(of: pages).count > 10_000)
    }

    @Test func `a forged transaction that says nothing forged is applied`() throws {
        let sample = try Self.sample.get()
        let (store, _) = try ForgedSample.open(ForgedLog.append([[]], to: sample.files))
        #expect(store.recovery.notes == [] && store.graph.digest() == sample.digest)
        try store.close()
    }
}

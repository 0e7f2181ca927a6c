import Cambium
import TestFixtures
import Testing

@testable import CambiumLog

@Suite struct LabelTests {
    private func made() throws -> (volume: MemoryVolume, store: Store) {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        for number in 0..<4 { try store.write { try $0.insert("Note", ["id": .int(Int64(number))]) } }
        return (volume, store)
    }

    private func count(_ volume: MemoryVolume, _ label: String) throws -> Int {
        try ReadOnlyStore(volume, point: .label(label)).graph.objectCount
    }

    @Test func `a label names a moment, which stays readable by the label`() throws {
        let (volume, store) = try made()
        #expect(try store.label("two", TransactionNumber(rawValue: 3)).rawValue == 3)
        #expect(try store.label("now").rawValue == 6)
        try store.write { try $0.insert("Note", ["id": .int(9)]) }
        #expect(try count(volume, "two") == 2 && count(volume, "now") == 4)
        #expect(store.graph.labels.mapValues(\.rawValue) == ["two": 3, "now": 6])
        try store.checkpoint()
        try store.close()
        let again = try Store.open(volume, durability: nil)
        #expect(again.recovery.transactionCount == 0 && again.graph.labels.mapValues(\.rawValue) == ["two": 3, "now": 6])
        #expect(try count(volume, "two") == 2)
        #expect(try Verification(volume).digest == again.graph.digest())
    }

    @Test func `a label moves to another moment only on request`() throws {
        let (volume, store) = try made()
        try store.label("a", TransactionNumber(rawValue: 2))
        #expect(code { try store.label("a", TransactionNumber(rawValue: 4)) } == .ruleViolated)
        let before = store.graph.transaction
        #expect(try store.label("a", TransactionNumber(rawValue: 2)).rawValue == 2 && store.graph.transaction == before)
        try store.label("a", TransactionNumber(rawValue: 4), existing: .move)
        #expect(try count(volume, "a") == 3)
    }

    @Test func `an invalid label and a moment that does not exist are refused`() throws {
        let (volume, store) = try made()
        for name in ["", "a\nb", String(repeating: "x", count: 256)] { #expect(code { try store.label(name) } == .invalidInput) }
        #expect(code { try store.label("later", TransactionNumber(rawValue: 6)) } == .notFound)
        #expect(code { try store.label("never", TransactionNumber.none) } == .notFound)
        #expect(code { _ = try ReadOnlyStore(volume, point: .label("none")) } == .notFound)
        #expect(store.graph.transaction.rawValue == 5)
    }

    @Test func `the error for an unknown label lists only some of many labels`() throws {
        let (volume, store) = try made()
        let names = (0..<30).map { "\($0 + 100) \(String(repeating: "x", count: 200))" }
        for name in names { try store.label(name) }
        let error = #expect(throws: CambiumError.self) { _ = try ReadOnlyStore(volume, point: .label("none")) }
        let message = error?.message ?? ""
        let listed = names.filter { message.contains($0) }
        #expect(error?.code == .notFound && listed == Array(names.prefix(12)) && message.utf8.count < 3000)
    }
}

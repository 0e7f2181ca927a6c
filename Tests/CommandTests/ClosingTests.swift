import Cambium
import CambiumTesting
import Testing

@testable import CambiumCommand

/// Closing a store after a command has failed.
@Suite struct ClosingTests {
    private let disk = TestDisk()
    private let store: Store

    /// Makes a store with a transaction that is not yet on the disk, so that closing the store writes to the disk.
    init() throws {
        let schema = try Schema { EntityDefinition("Note") { AttributeDefinition("id", .int64) } }
        store = try disk.create(schema: schema, durability: .buffered(every: .seconds(3600)))
        try store.write { _ = try $0.insert("Note", ["id": 1]) }
    }

    @Test func `an error of closing does not hide the first error`() throws {
        disk.fail()
        let error = try #require(store.close(after: CambiumError(.notFound, "The first error.")) as? CambiumError)
        #expect(error.code == .notFound && error.message == "The first error." && error.details.count == 1)
        #expect(error.details.first?.hasPrefix("The store could not be closed: ") == true)
    }

    @Test func `an error of closing replaces a repeated request, which is not a failure`() throws {
        disk.fail()
        let error = try #require(store.close(after: CambiumError(.repeated, "The request was applied.")) as? CambiumError)
        #expect(error.code == .outcomeUnknown)
    }

    @Test func `if closing succeeds, the first error stays as it is`() throws {
        let error = try #require(store.close(after: CambiumError(.notFound, "The first error.")) as? CambiumError)
        #expect(error.code == .notFound && error.details.isEmpty)
    }
}

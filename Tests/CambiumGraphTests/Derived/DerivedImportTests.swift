import Cambium
import TestFixtures
import Testing

/// Imports and exports of objects with derived attributes.
@Suite struct DerivedImportTests {
    @Test(arguments: [ImportOptions.UnknownKey.report, .error])
    func `a key with the name of a derived attribute is ignored, because exports write it`(unknown: ImportOptions.UnknownKey) throws {
        let orders = try DerivedOrders()
        let report = try orders.store.importing("Order", #"{"number":3,"itemCount":70,"total":8}"#) { $0.unknown = unknown }
        #expect(report.unknownKeys.isEmpty && report.transaction == nil)
        #expect(try orders.values("itemCount") == ["2", "1", "0"])
    }

    @Test func `only the name of the object's own derived attribute is ignored`() throws {
        let orders = try DerivedOrders()
        let report = try orders.store.importing("Item", #"{"key":"a","itemCount":70}"#)
        #expect(report.unknownKeys == ["itemCount": 1])
    }

    @Test func `an export can be imported again with unknown keys as errors`() throws {
        let orders = try DerivedOrders()
        let text = try orders.store.graph.exported("Order") { $0.references = .identity }
        let report = try orders.store.importing("Order", text) { $0.unknown = .error }
        #expect(text.contains("itemCount") && report.transaction == nil && report.counts.unchanged == 3, "\(text)")
    }

    @Test func `importing the same rows again changes nothing`() throws {
        let orders = try DerivedOrders()
        let report = try orders.store.importing("Order", DerivedOrders.rows)
        #expect(report.transaction == nil && report.counts.unchanged == 3)
    }

    @Test func `an owner whose sum changes counts as unchanged`() throws {
        let orders = try DerivedOrders()
        let report = try orders.store.importing("Item", #"{"key":"a","pieces":100}"#)
        #expect(report.counts.updated == 1 && report.entities["Order"] == nil)
        #expect(try orders.values("pieces") == ["103", "0", "0"])
        try orders.check()
    }

    @Test func `clearing missing values keeps derived values`() throws {
        let orders = try DerivedOrders()
        try orders.store.importing("Order", #"{"number":1,"name":"X","items":["a","b"]}"#) { $0.missing = .clear }
        #expect(try orders.values("itemCount") == ["2", "1", "0"])
        #expect(try orders.values("searchName").first == "x")
        try orders.check()
    }

    @Test func `a stub has derived values`() throws {
        let orders = try DerivedOrders()
        try orders.store.importing("Item", #"{"key":"d","order":77,"pieces":4}"#)
        #expect(try orders.values("pieces") == ["5", "0", "0", "4"])
        try orders.check()
    }

    @Test func `a mapping cannot name a derived attribute`() throws {
        let orders = try DerivedOrders()
        #expect(throws: CambiumError.self) {
            try orders.store.importing("Order", #"{"number":3,"n":1}"#) { options in
                options.mapping = ImportMapping(entity: "Order", attributes: ["number": "number", "itemCount": "n"])
            }
        }
    }
}

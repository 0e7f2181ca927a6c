import Cambium
import Foundation

/// A shop in a store: `Shop PATH` imports, clones, observes and edits, and continues where the last run ended, however it ended.
@main
struct Shop {
    static func main() async throws {
        guard CommandLine.arguments.count == 2 else {
            print("usage: Shop PATH")
            exit(64)
        }
        let store = try Store.open(at: CommandLine.arguments[1], creating: Schema(of: Shelf.self))
        print("opened with \(try store.graph.count(RecordQuery<Product>())) products")
        try stock(store)
        try await observe(store)
        try rename(store)
        try report(store)
        try store.close()
    }

    /// Imports the delivery. A second import of the same rows changes nothing.
    private static func stock(_ store: Store) throws {
        let delivery = """
            {"code": "A", "products": [{"sku": "a-1", "name": "Apples", "price": 2.5}, {"sku": "a-2", "name": "Pears", "price": 3}]}
            """
        let report = try store.importRows(Shelf.self, from: .bytes(Array(delivery.utf8)), author: Author(actor: "delivery"))
        print("imported: \(report.counts.inserted) shelves are new, \(report.counts.unchanged) unchanged")
    }

    /// Follows the expensive products while another task changes a price.
    private static func observe(_ store: Store) async throws {
        var updates = store.live(RecordQuery<Product> { $0.price > 2 }.sorted(by: \.price)).makeAsyncIterator()
        guard let first = try await updates.next() else { return }
        print("expensive:", try first.records().map(\.name).joined(separator: ", "))
        guard var apples = try store.graph.find(Product.self, identity: "a-1") else { return }
        apples.price += 1
        _ = try await store.save(apples, Author(actor: "manager"))
        guard let second = try await updates.next() else { return }
        print("now:", try second.records().map { "\($0.name) \($0.price)" }.joined(separator: ", "))
    }

    /// Edits a product over some time, as a form does. Another writer changes the same name before the commit.
    private static func rename(_ store: Store) throws {
        guard var pears = try store.graph.find(Product.self, identity: "a-2"), let id = pears.ref?.id else { return }
        var edit = store.edit()
        try edit.set(id, "name", to: "Ripe pears")
        pears.name = pears.name == "Pears" ? "Green pears" : "Pears"
        try store.save(&pears, Author(actor: "someone else"))
        do {
            try store.commit(&edit, author: Author(actor: "form"))
        } catch let error as CambiumError where error.code == .conflict {
            for conflict in edit.conflicts(with: store.graph) { print("conflict:", conflict) }
            try store.commit(&edit, policy: .mine, author: Author(actor: "form"))
        }
    }

    /// Clones the shelf, looks at both, and at the last changes.
    private static func report(_ store: Store) throws {
        let before = store.graph
        if let shelf = try before.find(Shelf.self, identity: "A"), try before.find(Shelf.self, identity: "B") == nil {
            let copy = try store.clone(shelf, CloneRequest(excluding: ["products"], rootValues: ["code": "B"]), Author(actor: "manager"))
            print("cloned shelf \(shelf.code) as \(copy.code)")
        }
        for change in try store.graph.changes(since: before).records(of: Shelf.self).inserted { print("new:", change.code) }
        for shelf in try store.fetch(Shelf.self) { print(shelf.code, shelf.products.map { "\($0.name) \($0.price)" }) }
    }
}

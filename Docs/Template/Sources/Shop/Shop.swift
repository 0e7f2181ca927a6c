import Cambium
import Foundation

/// A shop in a store. `Shop PATH` imports, clones, observes and edits, and then sells until the process ends. However it ends, the next run
/// continues with every sale that was printed.
@main
struct Shop {
    static func main() async {
        guard CommandLine.arguments.count == 2 else {
            print("usage: Shop PATH")
            exit(64)
        }
        do {
            try await run(CommandLine.arguments[1])
        } catch {
            say("Shop: \(error)")
            exit(1)
        }
    }

    /// Opens the store, and shows each use of it.
    private static func run(_ path: String) async throws {
        let store = try Store.open(at: path, creating: Schema(of: Shelf.self, Sale.self))
        say("opened with \(try store.graph.count(RecordQuery<Sale>())) sales")
        try stock(store)
        try copyShelf(store)
        try await observe(store)
        try rename(store)
        try await sell(store)
    }

    /// Writes a line at once, without a buffer that a killed process would lose.
    private static func say(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

    /// Imports the delivery. A second import of the same rows changes only what differs.
    private static func stock(_ store: Store) throws {
        let delivery = """
            {"code": "A", "products": [{"sku": "a-1", "name": "Apples", "price": 2.5}, {"sku": "a-2", "name": "Pears", "price": 3}]}
            """
        let report = try store.importRows(Shelf.self, from: .bytes(Array(delivery.utf8)), author: Author(actor: "delivery"))
        say("shelves: \(report.counts.inserted) new; products: \(report.entities["Product"]?.inserted ?? 0) new")
    }

    /// Clones the shelf without its products, once, and shows what the clone has changed.
    private static func copyShelf(_ store: Store) throws {
        let before = store.graph
        if let shelf = try before.find(Shelf.self, identity: "A"), try before.find(Shelf.self, identity: "B") == nil {
            try store.clone(shelf, CloneRequest(excluding: ["products"], rootValues: ["code": "B"]), Author(actor: "manager"))
        }
        for shelf in try store.graph.changes(since: before).records(of: Shelf.self).inserted { say("new shelf: \(shelf.code)") }
    }

    /// Follows the expensive products while a price changes.
    private static func observe(_ store: Store) async throws {
        var updates = store.live(RecordQuery<Product> { $0.price > 2 }.sorted(by: \.price)).makeAsyncIterator()
        guard let first = try await updates.next() else { return }
        say("expensive: \(try first.records().map(\.name).joined(separator: ", "))")
        guard var apples = try store.graph.find(Product.self, identity: "a-1") else { return }
        apples.price += 1
        _ = try await store.save(apples, Author(actor: "manager"))
        guard let second = try await updates.next() else { return }
        say("now: \(try second.records().map { "\($0.name) \($0.price)" }.joined(separator: ", "))")
    }

    /// Edits a name over some time, as a form does. Another writer changes the same name before the commit.
    private static func rename(_ store: Store) throws {
        guard var pears = try store.graph.find(Product.self, identity: "a-2"), let id = pears.ref?.id else { return }
        var edit = store.edit()
        try edit.set(id, "name", to: "Ripe pears")
        pears.name = "Green pears"
        try store.save(&pears, Author(actor: "someone else"))
        do {
            try store.commit(&edit, author: Author(actor: "form"))
        } catch let error as CambiumError where error.code == .conflict {
            for conflict in (error.underlying as? EditConflicts)?.conflicts ?? [] { say("conflict: \(conflict)") }
            try store.commit(&edit, policy: .mine, author: Author(actor: "form"))
        }
    }

    /// Sells apples until the process ends. A sale is printed after it is durable.
    private static func sell(_ store: Store) async throws {
        var number = try store.graph.count(RecordQuery<Sale>())
        while let apples = try store.graph.find(Product.self, identity: "a-1"), let product = apples.ref {
            number += 1
            _ = try await store.save(Sale(number: number, price: apples.price, product: product), Author(actor: "till"))
            say("sold \(number)")
        }
    }
}

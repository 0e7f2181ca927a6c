import ArgumentParser
import Cambium
import CambiumJSON

struct RevertCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revert", abstract: "Restore an object as it was at a moment.",
        discussion: Discussion.text(
            "Restores the attributes and links of the object. A deleted object comes back under its own id, which must then be written as "
                + "'Note/42'. Links to objects that no longer exist are omitted, and standard error names these objects. "
                + "A moment is \(Moment.forms). \(Moment.rules)",
            examples: "cambium revert notes Note/42 yesterday", "cambium revert notes Note/42 label:before-the-move --actor jane"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @Argument(help: "The object: \(ObjectIdentity.forms).") var id: String
    @Argument(help: "The moment: \(Moment.forms).") var point: Moment
    @OptionGroup(title: "Author and request") var author: AuthorOptions
    @OptionGroup(title: "Lock") var writer: WriterOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() throws {
        let own = author.author(of: ["revert", id, point.text])
        do {
            let (reverted, receipt, missing) = try writer.open(store).use { opened in
                if own.requestID != nil { try opened.graph.check(own) }
                let object = try self.object(in: opened.graph) { try opened.graph(at: point.point()) }
                let (receipt, missing) = try opened.revert(object, to: point.point(), author: own)
                Terminal.report(committed: receipt.transaction)
                return (object, receipt, missing)
            }
            for id in missing {
                Terminal.error("cambium: \(receipt.graph.text(of: id)) no longer exists, so the link to it was not restored.")
            }
            print(receipt, reverted)
        } catch {
            guard let repeated = error.repeatedRequest else { throw error }
            print(repeated)
        }
    }

    /// Returns the id of the object. An identity is looked up in the newest graph, and then at the moment. An id may belong to a deleted
    /// object.
    private func object(in graph: Graph, _ then: () throws -> Graph) throws -> ObjectID {
        guard let identity = try ObjectIdentity(parsing: id, graph.schema) else { return try graph.schema.parsedID(id).0 }
        do throws(CambiumError) {
            return graph.id(of: try identity.place(in: graph))
        } catch {
            guard error.code == .notFound else { throw error }
            let former = try then()
            return former.id(of: try identity.place(in: former))
        }
    }

    private func print(_ receipt: Receipt, _ id: ObjectID) {
        if output.json { return Terminal.printObject { $0.member("transaction", receipt.transaction) } }
        let text = receipt.graph.text(of: id)
        guard receipt.hasChanges, let number = receipt.transaction else { return Terminal.print("\(text): nothing changed") }
        Terminal.print("\(text) as it was at \(point.text), in transaction \(number)")
    }

    private func print(_ request: RepeatedRequest) {
        guard output.json else { return Terminal.print(Repetition.text(request.transaction)) }
        Terminal.printObject { writer in
            writer.member("transaction", request.transaction)
            writer.member("repeated", true)
        }
    }
}

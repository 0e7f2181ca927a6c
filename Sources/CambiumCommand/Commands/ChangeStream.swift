import Cambium
import CambiumJSON

/// Prints transactions as lines for other systems.
struct ChangeStream {
    let format: ChangesCommand.Format
    /// The name of the store: the last component of the path to which the given path leads. Every spelling of the path gives this name.
    private let name: String

    init(format: ChangesCommand.Format, store: String) {
        self.format = format
        name = (store.resolvedPath ?? store).split(separator: "/").last.map(String.init) ?? store
    }

    /// - Parameter isSnapshot: Whether the changes are all objects of a moment, and not what the transaction changed.
    func print(_ transaction: ChangedTransaction, isSnapshot: Bool) {
        switch format {
        case .cambium:
            Terminal.printObject { writer in
                transaction.write(to: &writer)
                if isSnapshot { writer.member("snapshot", true) }
            }
        case .debezium: DebeziumLines(transaction: transaction, name: name, isSnapshot: isSnapshot).print()
        case .cloudevents: CloudEventLines(transaction: transaction, name: name, isSnapshot: isSnapshot).print()
        }
    }
}

/// Writes the lines of one transaction in the form of Debezium's change events, between the events BEGIN and END of its transaction
/// metadata. Source: Debezium's documentation of its connectors, "Data change events" and "Transaction metadata".
private struct DebeziumLines {
    let transaction: ChangedTransaction
    let name: String
    let isSnapshot: Bool

    private var entry: TransactionLog.Entry { transaction.step.entry }
    private var milliseconds: Int64 { entry.time.microsecondsSince1970 / 1000 }

    func print() {
        boundary("BEGIN", counts: nil)
        var counts: [(entity: String, count: Int)] = []
        for (index, object) in transaction.objects.enumerated() {
            let entity = object.entity
            let place = counts.firstIndex { $0.entity == entity } ?? counts.count
            if place == counts.count { counts.append((entity, 0)) }
            counts[place].count += 1
            print(object, order: index + 1, orderInEntity: counts[place].count)
        }
        boundary("END", counts: counts)
    }

    private func print(_ object: ChangedObject, order: Int, orderInEntity: Int) {
        Terminal.printObject { writer in
            writer.key("before")
            object.writeState(.before, to: &writer)
            writer.key("after")
            object.writeState(.after, to: &writer)
            writer.object("source") { writer in
                writer.member("version", ProgramVersion.text)
                writer.member("connector", "cambium")
                writer.member("name", name)
                writer.member("ts_ms", milliseconds)
                writer.member("snapshot", isSnapshot ? "true" : "false")
                writer.member("db", name)
                writer.member("table", object.entity)
                writer.member("txId", entry.number)
                writer.member("actor", entry.author.actor)
            }
            writer.object("transaction") { writer in
                writer.member("id", entry.number.description)
                writer.member("total_order", order)
                writer.member("data_collection_order", orderInEntity)
            }
            writer.member("op", op(object.kind))
            writer.member("ts_ms", milliseconds)
        }
    }

    private func op(_ kind: ObjectChange.Kind) -> String {
        switch kind {
        case .inserted: isSnapshot ? "r" : "c"
        case .deleted: "d"
        case .changed: "u"
        }
    }

    private func boundary(_ status: String, counts: [(entity: String, count: Int)]?) {
        Terminal.printObject { writer in
            writer.member("status", status)
            writer.member("id", entry.number.description)
            writer.member("ts_ms", milliseconds)
            writer.member("event_count", counts?.reduce(0) { $0 + $1.count })
            guard let counts else { return writer.member("data_collections", String?.none) }
            writer.array("data_collections", counts) { writer, count in
                writer.object { writer in
                    writer.member("data_collection", count.entity)
                    writer.member("event_count", count.count)
                }
            }
        }
    }
}

/// Writes the lines of one transaction as events in the JSON format of CloudEvents 1.0. The last event ends the transaction.
private struct CloudEventLines {
    let transaction: ChangedTransaction
    let name: String
    let isSnapshot: Bool

    private var entry: TransactionLog.Entry { transaction.step.entry }

    func print() {
        for (index, object) in transaction.objects.enumerated() {
            let kind = isSnapshot ? "snapshot" : object.kind.rawValue
            event("\(entry.number)-\(index + 1)", type: "cambium.object.\(kind)", subject: object.name) { object.write(to: &$0) }
        }
        event("\(entry.number)-end", type: "cambium.transaction.end", subject: entry.number.description) { writer in
            writer.object { writer in
                writer.transaction(entry)
                writer.member("message", entry.author.message)
                writer.member("count", transaction.objects.count)
                transaction.writeStoreChanges(to: &writer)
            }
        }
    }

    private func event(_ id: String, type: String, subject: String, _ data: (inout JSONWriter) -> Void) {
        Terminal.printObject { writer in
            writer.member("specversion", "1.0")
            writer.member("id", id)
            writer.member("source", "/stores/" + Self.uriEncoded(name))
            writer.member("type", type)
            writer.member("subject", subject)
            writer.member("time", entry.time.description)
            writer.member("datacontenttype", "application/json")
            writer.key("data")
            data(&writer)
        }
    }

    /// Encodes each byte that is not unreserved in a URI (RFC 3986).
    private static func uriEncoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF")
        return text.utf8.reduce(into: "") { encoded, byte in
            let character = Character(UnicodeScalar(byte))
            if byte < 0x80, character.isLetter || character.isNumber || "-._~".contains(character) {
                encoded.append(character)
            } else {
                encoded.append("%")
                encoded.append(digits[Int(byte >> 4)])
                encoded.append(digits[Int(byte & 15)])
            }
        }
    }
}

import Cambium
import CambiumJSON

/// Prints transactions as lines for other systems.
struct ChangeStream {
    let format: ChangesCommand.Format
    /// The name of the store: the last component of its path.
    private let name: String

    init(format: ChangesCommand.Format, store: String) {
        self.format = format
        name = store.split(separator: "/").last.map(String.init) ?? store
    }

    /// - Parameter isSnapshot: Whether the changes are all objects of a moment, and not what the transaction changed.
    func print(_ transaction: ChangedTransaction, isSnapshot: Bool) {
        switch format {
        case .cambium:
            var writer = JSONWriter()
            transaction.write(to: &writer)
            if isSnapshot {
                writer.key("snapshot")
                writer.bool(true)
            }
            writer.endObject()
            writer.endLine()
            Terminal.write(writer.bytes)
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
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("before")
        object.writeState(.before, to: &writer)
        writer.key("after")
        object.writeState(.after, to: &writer)
        writer.key("source")
        writer.beginObject()
        writer.text("version", ProgramVersion.text)
        writer.text("connector", "cambium")
        writer.text("name", name)
        writer.key("ts_ms")
        writer.number(milliseconds)
        writer.text("snapshot", isSnapshot ? "true" : "false")
        writer.text("db", name)
        writer.text("table", object.entity)
        writer.key("txId")
        writer.number(entry.number.rawValue)
        writer.text("actor", entry.author.actor)
        writer.endObject()
        writer.key("transaction")
        writer.beginObject()
        writer.text("id", entry.number.description)
        writer.key("total_order")
        writer.number(order)
        writer.key("data_collection_order")
        writer.number(orderInEntity)
        writer.endObject()
        writer.text("op", op(object.kind))
        writer.key("ts_ms")
        writer.number(milliseconds)
        writer.endObject()
        writer.endLine()
        Terminal.write(writer.bytes)
    }

    private func op(_ kind: ObjectChange.Kind) -> String {
        switch kind {
        case .inserted: isSnapshot ? "r" : "c"
        case .deleted: "d"
        case .changed: "u"
        }
    }

    private func boundary(_ status: String, counts: [(entity: String, count: Int)]?) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.text("status", status)
        writer.text("id", entry.number.description)
        writer.key("ts_ms")
        writer.number(milliseconds)
        writer.key("event_count")
        if let counts { writer.number(counts.reduce(0) { $0 + $1.count }) } else { writer.null() }
        writer.key("data_collections")
        if let counts {
            writer.beginArray()
            for count in counts {
                writer.beginObject()
                writer.text("data_collection", count.entity)
                writer.key("event_count")
                writer.number(count.count)
                writer.endObject()
            }
            writer.endArray()
        } else {
            writer.null()
        }
        writer.endObject()
        writer.endLine()
        Terminal.write(writer.bytes)
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
            writer.beginObject()
            writer.transaction(entry)
            writer.text("message", entry.author.message)
            writer.key("count")
            writer.number(transaction.objects.count)
            writer.endObject()
        }
    }

    private func event(_ id: String, type: String, subject: String, _ data: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.text("specversion", "1.0")
        writer.text("id", id)
        writer.text("source", "/stores/" + Self.uriEncoded(name))
        writer.text("type", type)
        writer.text("subject", subject)
        writer.text("time", entry.time.description)
        writer.text("datacontenttype", "application/json")
        writer.key("data")
        data(&writer)
        writer.endObject()
        writer.endLine()
        Terminal.write(writer.bytes)
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

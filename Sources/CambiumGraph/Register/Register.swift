import CambiumModel

/// The inner graph that each version has for the requests and the labels of the store (decision 22).
enum Register {
    static let layout = GraphLayout(schema, hasRegister: false)
    static let requests = table("Request")
    static let labels = table("Label")

    /// The columns of one of the two tables: of requests or of labels.
    struct TableColumns {
        let table: TableLayout
        let entity: EntityNumber
        /// The column with the id of a request, or with the name of a label. An index covers this column.
        let name: Int
        /// The column with the transaction that applied a request, or that a label names.
        let transaction: Int
        /// The column with the digest of a request's content; `nil` for labels.
        let digest: Int?
        /// The column with the object of a request's first op; `nil` for labels.
        let object: Int?
    }

    private static let definition = SchemaDefinition {
        EntityDefinition("Request", identity: ["name"]) {
            AttributeDefinition("name", .string)
            AttributeDefinition("transaction", .int64)
            AttributeDefinition("digest", .data, .optional)
            AttributeDefinition("object", .int64, .optional)
        }
        EntityDefinition("Label", identity: ["name"]) {
            AttributeDefinition("name", .string)
            AttributeDefinition("transaction", .int64)
        }
    }

    private static let schema: Schema = {
        do {
            return try Schema(definition)
        } catch {
            preconditionFailure("The fixed schema of the register must be valid: \(error)")
        }
    }()

    private static func table(_ name: String) -> TableColumns {
        guard let entity = schema.entity(name), let table = layout.table(of: entity.root),
            let key = entity.attribute("name"), let transaction = entity.attribute("transaction")
        else { preconditionFailure("The register must have an entity '\(name)' with a name and a transaction.") }
        return TableColumns(
            table: table, entity: entity.number, name: table.slot(of: key.number), transaction: table.slot(of: transaction.number),
            digest: entity.attribute("digest").map { table.slot(of: $0.number) },
            object: entity.attribute("object").map { table.slot(of: $0.number) })
    }
}

/// A request or a label.
package struct RegisterEntry: Sendable, Equatable {
    package let name: String
    package let transaction: TransactionNumber
    /// The digest of a request's content; `nil` if the caller passed no digest, and for a label.
    package let digest: RequestDigest?
    /// The object of a request's first op (`Op.subject`), so that a repetition can name it after the log has retired the op.
    package let object: ObjectID?

    package init(name: String, transaction: TransactionNumber, digest: RequestDigest?, object: ObjectID? = nil) {
        (self.name, self.transaction, self.digest, self.object) = (name, transaction, digest, object)
    }
}

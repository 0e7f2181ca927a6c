package import CambiumGraph
package import CambiumModel

/// The input of an import: its sources, and the rules that turn rows into objects of a schema.
package struct ImportInput {
    let entity: Entity
    package let schema: Schema
    let sources: [ImportSource]
    let options: ImportOptions
    let resolver: MappingResolver
    let rereader: RowRereader
    private let hashNumbers: OwnedHashNumbers

    /// Compares the mapping and the entity with the schema. Throws `.invalidInput` if the mapping does not fit the schema, and `.notFound`
    /// if the schema does not have the entity.
    package init(
        _ sources: [ImportSource], _ entity: Entity, _ options: ImportOptions, _ schema: Schema, hashNumbers: OwnedHashNumbers
    ) throws(CambiumError) {
        let entity = try schema.current(entity)
        let resolver = try MappingResolver(options.mapping, importing: entity, schema)
        self.entity = entity
        self.schema = schema
        self.sources = sources
        self.options = options
        self.hashNumbers = hashNumbers
        self.resolver = resolver
        rereader = RowRereader { try RowReader(options, schema, resolver, importing: entity, hashNumbers: hashNumbers) }
    }

    /// Returns a feed of the rows that follow the first `firstRow` rows.
    ///
    /// - Parameter refused: the rows to omit, counted from 1 across all sources.
    package func feed(firstRow: Int, refused: some Sequence<Int>, _ pace: RowPace) throws(CambiumError) -> RowFeed {
        let columns = CSVColumns(entity, schema, resolver)
        let reader = try RowReader(options, schema, resolver, importing: entity, hashNumbers: hashNumbers)
        let documents = DocumentStream(sources, columns: columns, rows: options.rows)
        let source = RowSource(documents, reader, firstRow: firstRow, refused: refused, pace)
        // A read from a pipe may wait forever. So the feed does not read the rows of a pipe before the import needs them.
        let isAhead = !pace.isSingle && !sources.contains(where: \.mayWait)
        return RowFeed(source, isAhead: isAhead, isSingle: pace.isSingle)
    }
}

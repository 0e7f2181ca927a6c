package import CambiumJSON

/// The number of rows that are read at once.
package enum RowPace: Sendable {
    /// Batches of rows, which may be read before they are asked for.
    case batches
    /// One row at a time. A program that sees the rows must see each one after the previous rows were applied.
    ///
    /// - Parameter prepare: changes the row before it is read as objects.
    case single(prepare: (@Sendable (inout JSONValue) throws -> Void)?)

    var isSingle: Bool { if case .single = self { true } else { false } }
}

package import CambiumJSON

/// The number of rows that are read in one step.
package enum RowPace: Sendable {
    /// Batches of rows, which may be read before they are requested.
    case batches
    /// One row at a time. A hook that examines a row must see the graph with the effects of all previous rows.
    ///
    /// - Parameter prepare: changes the JSON of a row before the reader turns it into objects.
    case single(prepare: (@Sendable (inout JSONValue) throws -> Void)?)

    var isSingle: Bool { if case .single = self { true } else { false } }
}

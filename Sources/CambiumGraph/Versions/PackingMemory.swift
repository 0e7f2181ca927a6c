import CambiumModel

/// Work that packing has tried without success. Packing moves rows and pages, so that fewer groups of rows and fewer chunks are in use.
/// Packing does not try the recorded work again until something changes.
struct PackingMemory: Sendable {
    /// The tables in which the last plan found no two sparse groups (groups in which few rows contain an object) that fit together. For
    /// each of these tables, the numbers of sparse groups and live rows at that time. The key is the root entity of the table, because a
    /// migration may change the table's number.
    var vainCounts: [EntityNumber: (sparseGroups: Int, live: Int)] = [:]
    /// For each chunk that could not be emptied, the number of granules (16 bytes each) that remained in use.
    var stuckChunks: [Int: Int] = [:]
    /// Like `stuckChunks`, for chunks that a plan could not empty even by copying blobs (values of more than 255 bytes).
    var hopelessChunks: [Int: Int] = [:]
}

import CambiumModel

/// Work that packing has tried without success. It is not tried again until something changes.
struct PackingMemory: Sendable {
    /// For each table in which no two sparse groups fitted together, the numbers of its sparse groups and live rows at that time. The key
    /// is the root entity of the table, because a migration may change the table's number.
    var vainCounts: [EntityNumber: (sparseGroups: Int, live: Int)] = [:]
    /// For each chunk that could not be emptied, the number of granules that remained in use.
    var stuckChunks: [Int: Int] = [:]
    /// For each chunk that a plan could not empty although the plan also copied blobs, the number of granules that remained in use.
    var hopelessChunks: [Int: Int] = [:]
}

/// The work that packing has found to be impossible.
struct PackingMemory: Sendable {
    /// For each table in which packing could not gather any group, the numbers of its sparse groups and live rows at that time.
    var vainCounts: [Int: (sparseGroups: Int, live: Int)] = [:]
    /// For each chunk that could not be emptied, the number of its granules that remained in use.
    var stuckChunks: [Int: Int] = [:]
    /// The same numbers for chunks that could not be emptied even though their blobs were copied, too.
    var hopelessChunks: [Int: Int] = [:]
}

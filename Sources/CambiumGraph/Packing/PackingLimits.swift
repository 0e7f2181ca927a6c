/// What is worth packing, and how much of it at a time.
package struct PackingLimits: Sendable {
    /// A table is gathered when fewer rows than one in so many are live, in groups with as few each.
    package var sparseness = 4
    /// Tables with fewer groups are left alone.
    package var groupCountMin = 32
    /// Rows that are moved in one step, and the members that change with them.
    package var rowCountMax = 256
    /// Chunks are emptied when they hold so many bytes that are of no use, and in percent of those that are, so many.
    package var wasteByteCountMin = 4 << 20
    package var wastePercentMin = 50
    /// What of a chunk is in use at most for it to be emptied, in percent.
    package var usedPercentMax = 50
    /// Bytes that are copied in one step.
    package var byteCountMax = 256 << 10
    /// Bytes that the chunks of one plan have in use.
    package var planByteCountMax = 64 << 20

    package init() {}

    /// All that is worth its while where somebody waits for it.
    package static let thorough: PackingLimits = {
        var limits = PackingLimits()
        (limits.sparseness, limits.groupCountMin) = (2, 4)
        (limits.wasteByteCountMin, limits.wastePercentMin, limits.usedPercentMax) = (256 << 10, 5, 80)
        return limits
    }()

    /// Places that are looked at in one step, whether there is something to do or not.
    static let lookCountMax = 4096
    /// Chunks that packing leaves for changes: it copies pages before it frees any.
    static let freeChunkCountMin = 64
    /// A group with an object that has more members, for each row that a step moves, stays where it is.
    static let memberFactorMax = 4
}

/// The conditions under which packing is worthwhile, and the bounds of its steps. Packing gathers the rows of sparse groups in shared
/// groups, and empties chunks that are mostly unused.
package struct PackingLimits: Sendable {
    /// Packing gathers rows of a table if fewer than one in `sparseness` rows of the table contain an object. A group of this table is
    /// sparse if at most one in `sparseness` rows of the group contains an object.
    package var sparseness = 4
    /// If a table has fewer groups of rows than this number, packing does not gather its rows.
    package var groupCountMin = 32
    /// A step ends when it has moved this many rows. Members that were changed because their owners moved count as rows.
    package var rowCountMax = 256
    /// Chunks are emptied only if all frozen chunks, to which writers add no more pages, have at least this many unused bytes in total. The
    /// unused bytes must also reach the ratio of `wastePercentMin`.
    package var wasteByteCountMin = 4 << 20
    /// The minimum ratio of the unused bytes to the bytes in use, in percent.
    package var wastePercentMin = 50
    /// A chunk is emptied only if at most this percentage of it is in use.
    package var usedPercentMax = 50
    /// A step ends when it has copied this many bytes.
    package var byteCountMax = 256 << 10
    /// A plan adds no further chunk once its chunks have this many bytes in use.
    package var planByteCountMax = 64 << 20

    package init() {}

    /// Limits for a caller that is waiting until packing ends: everything that is worthwhile is packed.
    package static let thorough: PackingLimits = {
        var limits = PackingLimits()
        (limits.sparseness, limits.groupCountMin) = (2, 4)
        (limits.wasteByteCountMin, limits.wastePercentMin, limits.usedPercentMax) = (256 << 10, 5, 80)
        return limits
    }()

    /// The maximum number of places that one step examines, even if it finds nothing to do.
    static let lookCountMax = 4096
    /// The number of free chunks that packing must leave for other changes. Packing needs free chunks itself, because it copies pages
    /// before it releases any.
    static let freeChunkCountMin = 64
    /// The maximum number of members that the objects of one group have in their lists, as a multiple of `rowCountMax`. A group with more
    /// members stays in place, because each member would have to refer to the new row of its owner.
    static let memberFactorMax = 4
    /// The maximum number of cells that refer to the same long value (more than 255 bytes). A value with more cells stays in place.
    static let cellCountMax = 1024
}

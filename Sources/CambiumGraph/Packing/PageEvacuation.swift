/// A plan to empty chunks that are mostly unused. The plan contains the places that refer to the pages to be copied.
struct PageEvacuation {
    /// For each chunk, whether it is to be emptied. Chunks with constant pages are never emptied.
    let victims: [Bool]
    /// For each chunk to be emptied, the number of its granules (16 bytes each) that were in use when the plan was made.
    let live: [Int: Int]
    /// Whether blobs (values of more than 255 bytes) are copied, too. A plan copies blobs only if no chunk can be emptied without copying
    /// blobs, because finding the blobs requires a scan of all objects.
    let withBlobs: Bool
    let places: [EvacuationPlace]
    /// The index in `places` of the next place.
    var next = 0
    /// For each chunk to be emptied, the total size of its pages that were copied so far, in granules (16 bytes each).
    var moved: [Int: Int] = [:]

    var isDone: Bool { next == places.count }

    /// Chooses the emptiest chunks, if enough bytes are unused. Complexity: O(chunks x log chunks + pages), or O(objects) if blobs are
    /// copied.
    init?(_ graph: Graph, _ survey: PackingSurvey) {
        let (live, limits) = (survey.live, survey.limits)
        let frozen = live.indices.filter { $0 > 0 && live[$0] > 0 }
        let used = frozen.reduce(0) { $0 + Int(live[$1]) } * PageLayout.granule
        let waste = frozen.count * PageLayout.chunkByteCount - used
        guard waste >= limits.wasteByteCountMin, 100 * waste >= limits.wastePercentMin * used else { return nil }
        let sparse = frozen.filter { 100 * Int(live[$0]) <= limits.usedPercentMax * PageLayout.chunkGranules }
            .sorted { live[$0] < live[$1] }
        for withBlobs in [false, true] {
            // An earlier plan could not empty some chunks. They contain blobs (values of more than 255 bytes), or nodes of vectors with no
            // elements below these nodes. Such a chunk is omitted as long as its number of used granules is the same as after that plan.
            let stuck = withBlobs ? survey.memory.hopelessChunks : survey.memory.stuckChunks
            var victims = [Bool](repeating: false, count: live.count)
            var chosen: [Int: Int] = [:]
            var byteCount = 0
            for chunk in sparse where stuck[chunk] != Int(live[chunk]) && byteCount < limits.planByteCountMax {
                victims[chunk] = true
                chosen[chunk] = Int(live[chunk])
                byteCount += Int(live[chunk]) * PageLayout.granule
            }
            if chosen.isEmpty { continue }
            var finder = EvacuationFinder(victims)
            finder.find(in: graph.reader, graph.layout, withBlobs: withBlobs)
            if let register = graph.reader.register(of: graph.layout) {
                finder.isRegister = true
                finder.find(in: register, Register.layout, withBlobs: withBlobs)
            }
            (self.victims, self.live, self.withBlobs, places) = (victims, chosen, withBlobs, finder.places)
            return
        }
        return nil
    }

    /// Whether a page lies in a chunk that is to be emptied.
    func has(_ page: PageRef) -> Bool { page.lies(in: victims) }
}

/// A part of the graph, such as a group of rows, that refers to pages that must be copied. The graph may have changed since the packing
/// plan was made, so a packing step checks this part again before it copies pages.
struct EvacuationPlace {
    enum Kind {
        case directory
        case table(Int)
        /// The nodes on the path to an element of a vector in a table's page.
        case node(table: Int, vector: TablePage.Vector, index: Int)
        /// The nodes on the path to an element of the vector that counts references to shared blobs, values of more than 255 bytes.
        case sharedBlobs(index: Int)
        /// The page of a group of rows, and the leaves (pages) of its columns.
        case group(table: Int, index: Int)
        /// The bucket to which a hash belongs in a hash index, and the overflow pages of the bucket.
        case bucket(table: Int, index: Int, hash: UInt64)
        /// The page that refers to the ordered indexes.
        case indexDirectory
        /// The nodes of an ordered index on the path to an entry, and all leaves with the same parent as the leaf of this entry. `entry` is
        /// the position of the entry.
        case index(Int, entry: Int)
        /// A blob (a value of more than 255 bytes), and all cells that refer to it.
        case blob(PageRef, [Cell])
    }

    /// A cell of a column of strings.
    struct Cell {
        let table: Int
        let row: UInt32
        let slot: Int
    }

    let kind: Kind
    /// Whether the place is in the register, the inner graph of requests and labels.
    let isRegister: Bool
}

extension PageRef {
    func lies(in victims: [Bool]) -> Bool {
        let chunk = Int(self >> 12)
        return self != 0 && chunk < victims.count && victims[chunk]
    }
}

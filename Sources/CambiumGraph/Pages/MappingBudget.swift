/// Limits how often a space cuts its heap into mappings of the heap and of a file.
///
/// Linux ends a process that has more than 65,530 mappings (`vm.max_map_count`). Each chunk that a file takes the place of can add two. So
/// the budget keeps an upper bound of the cuts, and counts them again when the bound reaches the limit.
struct MappingBudget {
    /// Cuts of one space at most.
    private let cutCountMax: Int
    /// An upper bound of the cuts that there are.
    private var cutCount = 0
    /// Cuts that were refused since they were counted.
    private var refusedCount = 0

    init(cutCountMax: Int = 8192) { self.cutCountMax = cutCountMax }

    /// Whether memory may be mapped anew at a place inside of the heap. If not, the caller leaves the memory as it is.
    ///
    /// - Parameter counted: counts the cuts that there are. Called at most once in 1024 refusals, or in a quarter of the limit's cuts.
    mutating func mayCut(counted: () -> Int) -> Bool {
        if cutCount + 2 > cutCountMax {
            refusedCount += 1
            if refusedCount % 1024 == 1 { cutCount = counted() }
            // Close to the limit most cuts would only be counted again.
            if cutCount > cutCountMax / 2 {
                cutCount = cutCountMax
                return false
            }
            refusedCount = 0
        }
        cutCount += 2
        return true
    }
}

extension PageSpace {
    /// Counts the borders between the heap and mappings of a file in the memory of the heap. Complexity: O(chunks x log chunks).
    func countCuts() -> Int {
        var places: [(base: UnsafeMutableRawPointer, chunk: Int, isFile: Bool)] = []
        for chunk in memories.indices {
            guard [.heap, .lent, .file].contains(memories[chunk]), let base = chunks[chunk: chunk] else { continue }
            places.append((base, chunk, memories[chunk] == .file))
        }
        places.sort { $0.base < $1.base }
        var count = 0
        for (left, right) in zip(places, places.dropFirst()) where left.isFile || right.isFile {
            let isOneMapping =
                left.isFile && right.isFile && right.base == left.base + PageLayout.chunkByteCount && right.chunk == left.chunk + 1
            if !isOneMapping { count += 1 }
        }
        return count
    }
}

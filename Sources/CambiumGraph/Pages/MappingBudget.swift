/// Limits how many mappings of a file a page space makes inside its heap memory.
///
/// Linux allows a process at most 65,530 mappings by default (`vm.max_map_count`). A process that needs more mappings ends. Mapping a file
/// in place of a chunk's heap memory can add two mappings. A *cut* is a border between heap memory and a mapping of a file. The budget
/// keeps an upper bound of the number of cuts, and counts the cuts again when the bound reaches the limit.
struct MappingBudget {
    /// The maximum number of cuts, the borders between heap memory and mappings of a file, in one space.
    private let cutCountMax: Int
    /// An upper bound of the number of borders between heap memory and mappings of a file.
    private var cutCount = 0
    /// The number of consecutive refusals.
    private var refusedCount = 0

    init(cutCountMax: Int = 8192) { self.cutCountMax = cutCountMax }

    /// Returns whether the caller may replace heap memory with a mapping of a file, or such a mapping with other memory. If the result is
    /// `false`, the caller must leave the memory unchanged.
    ///
    /// - Parameter counted: Counts the borders between heap memory and mappings of a file. Between two calls of `counted`, the method
    ///   refuses at least 1023 times or permits at least `cutCountMax / 4` times.
    mutating func mayCut(counted: () -> Int) -> Bool {
        if cutCount + 2 > cutCountMax {
            refusedCount += 1
            if refusedCount % 1024 == 1 { cutCount = counted() }
            // If the number of borders exceeds half of the limit, further mappings would soon reach the limit again. So the budget refuses
            // mappings until borders are counted again.
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
    /// Counts the existing cuts: the borders between heap memory and mappings of a file. Complexity: O(chunks x log chunks).
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

/// People that follow one another. The people who are followed are distributed by Zipf's law with an exponent of 1: person k has a weight
/// of 1 / (k + 1). The number of links of a person is between a third and three times the mean.
enum FollowedPeople {
    static let seed: UInt64 = 21
    private static let meanLinkCount = 24

    /// Returns the different people that each person follows.
    static func lists(of personCount: Int, _ random: inout SplitMix) -> [[Int]] {
        var sums: [Double] = []
        var sum = 0.0
        for person in 0..<personCount {
            sum += 1 / Double(person + 1)
            sums.append(sum)
        }
        return (0..<personCount).map { person in
            let thirds = [1, 1, 1, 2, 2, 3, 3, 3, 5, 9]
            let count = meanLinkCount * thirds[random.below(thirds.count)] / 3
            var found: Set<Int> = []
            while found.count < count {
                let wanted = Double(random.next() >> 11) / Double(1 << 53) * sum
                let other = min(sums.partition(above: wanted), personCount - 1)
                if other != person { found.insert(other) }
            }
            return found.sorted()
        }
    }
}

extension [Double] {
    /// Returns the index of the first element that is greater than a number, in an ascending array.
    fileprivate func partition(above number: Double) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] > number { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

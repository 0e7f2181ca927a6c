extension Range where Bound: FixedWidthInteger {
    /// Finds by bisection the end of the numbers for which a condition holds. Returns the upper bound if it holds for all numbers.
    /// Complexity: O(log count) calls of `holds`.
    ///
    /// - Parameter holds: The condition. If it is false for a number, it must be false for all greater numbers.
    @inlinable
    package func prefixEnd<Failure: Error>(while holds: (Bound) throws(Failure) -> Bool) throws(Failure) -> Bound {
        var (low, high) = (lowerBound, upperBound)
        while low < high {
            let middle = low + (high - low) / 2
            if try holds(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

#if Macros
    extension [String] {
        /// Returns the element that differs from a given name by one or two typing errors. Returns `nil` if there is no such element, or
        /// more than one.
        func closest(to name: String) -> String? {
            let limit = name.count < 5 ? 1 : 2
            let near = filter { $0.distance(toName: name) <= limit }
            return near.count == 1 ? near.first : nil
        }
    }

    extension String {
        /// Returns the number of letters to insert, remove or replace until the text equals another name. Letters that differ only in case
        /// count as equal. Complexity: O(m × n) for names of m and n letters.
        fileprivate func distance(toName other: String) -> Int {
            let (left, right) = (Array(lowercased()), Array(other.lowercased()))
            var row = Array(0...right.count)
            for (i, letter) in left.enumerated() {
                var diagonal = row[0]
                row[0] = i + 1
                for (j, otherLetter) in right.enumerated() {
                    let substituted = diagonal + (letter == otherLetter ? 0 : 1)
                    diagonal = row[j + 1]
                    row[j + 1] = Swift.min(substituted, diagonal + 1, row[j] + 1)
                }
            }
            return row[right.count]
        }
    }
#endif

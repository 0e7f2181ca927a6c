/// A table that finds an element by its number, such as an attribute by its property number. The elements are in an array, or in a
/// dictionary if the numbers are far apart.
struct NumberTable<Element: Sendable>: Sendable {
    private let first: Int
    private let elements: [Element?]
    private let scattered: [UInt16: Element]

    /// Creates a table from elements and their numbers. Complexity: O(elements).
    init(_ numbered: [(UInt16, Element)]) {
        let numbers = numbered.map { Int($0.0) }
        let (least, greatest) = (numbers.min() ?? 0, numbers.max() ?? -1)
        first = least
        guard greatest - least < 4 * numbered.count + 64 else {
            elements = []
            scattered = Dictionary(numbered, uniquingKeysWith: { $1 })
            return
        }
        var elements = [Element?](repeating: nil, count: greatest - least + 1)
        for (number, element) in numbered { elements[Int(number) - least] = element }
        self.elements = elements
        scattered = [:]
    }

    @inline(__always) subscript(_ number: UInt16) -> Element? {
        let place = Int(number) &- first
        if place >= 0, place < elements.count { return elements[place] }
        return scattered.isEmpty ? nil : scattered[number]
    }
}

/// What is looked up by a small number again and again: an array with gaps.
struct NumberTable<Element: Sendable>: Sendable {
    private var elements: [Element?] = []

    init(_ numbered: some Sequence<(UInt16, Element)>) {
        for (number, element) in numbered {
            while elements.count <= Int(number) { elements.append(nil) }
            elements[Int(number)] = element
        }
    }

    @inline(__always) subscript(_ number: UInt16) -> Element? {
        Int(number) < elements.count ? elements[Int(number)] : nil
    }
}

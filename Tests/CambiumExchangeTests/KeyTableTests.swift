import Testing

@testable import CambiumExchange

@Suite struct KeyTableTests {
    private func target(of key: String, in table: inout KeyTable) -> KeyTable.Target? {
        Array(key.utf8).withUnsafeBytes { table.target(of: $0) }
    }

    @Test(arguments: [0, 1, 3, 200])
    func `each key is found in every order, and no other key is found`(count: Int) {
        let names = (0..<count).map { "k\($0 * $0)" }
        var table = KeyTable(names.enumerated().map { ($0.element, .attribute($0.offset)) })
        for places in [Array(0..<count), Array((0..<count).reversed()), (0..<count).map { $0 * 7 % count }] {
            for place in places {
                let found = target(of: names[place], in: &table)
                #expect(found == .attribute(place))
                let others = ["", "k", "j\(place)", names[place] + "x"].compactMap { target(of: $0, in: &table) }
                #expect(others.isEmpty)
            }
        }
    }
}

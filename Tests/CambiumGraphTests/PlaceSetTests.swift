import Testing

@testable import CambiumGraph

@Suite struct PlaceSetTests {
    @Test(arguments: [0, 1, 5000], [1, 3, 70_000])
    func `a set that becomes larger than expected has each place once`(expectedCount: Int, tableCount: Int) {
        var set = PlaceSet(placeCount: expectedCount, tableCount: tableCount)
        let places = (0..<6000).map { number in
            ObjectPlace(table: number % min(tableCount, 3), row: number.isMultiple(of: 7) ? UInt32.max - UInt32(number) : UInt32(number))
        }
        let areNew = places.map { set.insert($0) }
        #expect(!areNew.contains(false))
        let areNewAgain = places.map { set.insert($0) }
        #expect(!areNewAgain.contains(true))
    }
}

/// Superseded versions that readers may still hold, by age. Any of them is taken out in O(1): thousands are held where thousands
/// of receipts are, and most are let go of in the middle.
struct PinnedVersions {
    private struct Pin {
        var version: Version?
        /// Places of the next ones in the ring.
        var older: Int
        var newer: Int
    }

    /// A ring, in which the pin at place 0 stands between the newest version and the oldest.
    private var pins = [Pin(version: nil, older: 0, newer: 0)]
    private var freePlaces: [Int] = []
    /// Where is looked next for a version that can be dropped.
    private var lookPlace = 0
    private(set) var count = 0
    /// Granules of the pages that only these versions reach.
    private(set) var deadGranules = 0

    private static let lookCount = 4

    /// Oldest first.
    var elements: [Version] {
        var (elements, place): ([Version], Int) = ([], pins[0].newer)
        while let version = pins[place].version {
            elements.append(version)
            place = pins[place].newer
        }
        return elements
    }

    /// Adds a version that is newer than all others. Complexity: O(pages that only it reaches).
    mutating func append(_ version: Version, _ space: PageSpace) {
        deadGranules += Self.granules(version.dead, space)
        let pin = Pin(version: version, older: pins[0].older, newer: 0)
        let place = freePlaces.popLast() ?? pins.count
        if place == pins.count { pins.append(pin) } else { pins[place] = pin }
        pins[pin.older].newer = place
        pins[0].older = place
        count += 1
    }

    /// Takes out all that are as new as the epoch or newer.
    mutating func removeAll(from epoch: UInt64, _ space: PageSpace) {
        while let newest = pins[pins[0].older].version, newest.epoch >= epoch {
            deadGranules -= Self.granules(newest.dead, space)
            remove(pins[0].older)
        }
    }

    private static func granules(_ pages: PageList, _ space: PageSpace) -> Int {
        pages.elements.reduce(0) { $0 + space.chunks.granules($1) }
    }

    private mutating func remove(_ place: Int) {
        let pin = pins[place]
        pins[pin.older].newer = pin.newer
        pins[pin.newer].older = pin.older
        pins[place].version = nil
        if lookPlace == place { lookPlace = pin.newer }
        freePlaces.append(place)
        count -= 1
    }

    // MARK: Freeing pages

    /// Frees pages that no version newer than the pinned ones can reach; the newest that can reach one keeps it.
    mutating func bury(_ pages: PageList, _ space: PageSpace) { bury(pages, pins[0].older, space) }

    @inline(__always)
    private mutating func bury(_ pages: PageList, _ place: Int, _ space: PageSpace) {
        guard let version = pins[place].version else {
            for page in pages.elements { space.release(page) }
            return
        }
        for page in pages.elements {
            if space.chunks.birth(page) <= version.epoch {
                deadGranules += space.chunks.granules(page)
                version.dead.append(page)
            } else {
                space.release(page)
            }
        }
    }

    /// Drops all that readers have let go of, the newest first. Complexity: O(pinned versions and their pages).
    mutating func reclaim(_ space: PageSpace) {
        var place = pins[0].older
        while place != 0 {
            let older = pins[place].older
            _ = drop(place, space)
            place = older
        }
    }

    /// Looks at a few, in turn, so that a transaction's time does not depend on how many readers there are: at more for each
    /// transaction than it can have pinned.
    mutating func reclaimSome(_ space: PageSpace) {
        for _ in 0..<min(count, Self.lookCount) {
            if lookPlace == 0 { lookPlace = pins[0].newer }
            if !drop(lookPlace, space) { lookPlace = pins[lookPlace].newer }
        }
    }

    /// Drops a version if readers have let go of it, handing what older ones may need down to them.
    private mutating func drop(_ place: Int, _ space: PageSpace) -> Bool {
        guard isKnownUniquelyReferenced(&pins[place].version), let version = pins[place].version else { return false }
        let older = pins[place].older
        deadGranules -= Self.granules(version.dead, space)
        bury(version.dead, older, space)
        space.giveBack(&version.dead)
        remove(place)
        return true
    }
}

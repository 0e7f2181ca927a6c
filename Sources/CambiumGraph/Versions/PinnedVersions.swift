/// The versions that readers still held when newer versions replaced them, ordered by age. Removing a version takes O(1), even from the
/// middle. A program that holds thousands of receipts holds as many versions, and may release them in any order.
struct PinnedVersions {
    private struct Pin {
        var version: Version?
        /// The index in `pins` of the next older version.
        var older: Int
        /// The index in `pins` of the next newer version.
        var newer: Int
    }

    /// A ring of versions. The pin at index 0 has no version: it is between the newest and the oldest version.
    private var pins = [Self.base]
    private static let base = Pin(version: nil, older: 0, newer: 0)
    private var freePlaces: [Int] = []
    /// The index at which the next call to `reclaimSome` begins.
    private var lookPlace = 0
    private(set) var count = 0
    /// The total size, in granules of 16 bytes, of the pages that a pinned version still uses, but the newest version does not.
    private(set) var deadGranules = 0

    private static let lookCount = 4
    /// After the last version was removed, the ring keeps the memory of at most this many versions.
    private static let spareCountMax = 16_384

    /// The versions, oldest first.
    var elements: [Version] {
        var (elements, place): ([Version], Int) = ([], pins[0].newer)
        while let version = pins[place].version {
            elements.append(version)
            place = pins[place].newer
        }
        return elements
    }

    /// Adds a version that is newer than all other versions. Complexity: O(pages that the next version replaced).
    mutating func append(_ version: Version, _ space: PageSpace) {
        deadGranules += Self.granules(version.dead, space)
        let pin = Pin(version: version, older: pins[0].older, newer: 0)
        let place = freePlaces.popLast() ?? pins.count
        if place == pins.count { pins.append(pin) } else { pins[place] = pin }
        pins[pin.older].newer = place
        pins[0].older = place
        count += 1
    }

    /// Removes all versions with this epoch or a later epoch.
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
        if count == 0, pins.count > Self.spareCountMax { (pins, freePlaces, lookPlace) = ([Self.base], [], 0) }
    }

    // MARK: Freeing pages

    /// Frees each given page that no pinned version can reach. Passes any other page to the newest version that can reach it. The page is
    /// freed with this version.
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

    /// Drops all versions that readers have released, the oldest first. So a page that an older version needs passes directly to the newest
    /// such version, and not through all versions between. Complexity: O(pinned versions and their pages).
    mutating func reclaim(_ space: PageSpace) {
        var place = pins[0].newer
        while place != 0 {
            let newer = pins[place].newer
            _ = drop(place, space)
            place = newer
        }
    }

    /// Examines the next few versions in the ring, and drops the versions that readers have released. The number of examined versions is
    /// limited, so that the time of a transaction does not depend on the number of readers. The limit exceeds the number of versions that
    /// one transaction can pin.
    mutating func reclaimSome(_ space: PageSpace) {
        for _ in 0..<min(count, Self.lookCount) {
            if lookPlace == 0 { lookPlace = pins[0].newer }
            if !drop(lookPlace, space) { lookPlace = pins[lookPlace].newer }
        }
    }

    /// Drops a version if readers have released it. Returns whether the version was dropped. The next older version takes over the pages
    /// that older versions can reach. All other pages are freed.
    private mutating func drop(_ place: Int, _ space: PageSpace) -> Bool {
        guard isKnownUniquelyReferenced(&pins[place].version), let version = pins[place].version else { return false }
        let older = pins[place].older
        deadGranules -= Self.granules(version.dead, space)
        bury(version.dead, older, space)
        space.recycle(&version.dead)
        remove(place)
        return true
    }
}

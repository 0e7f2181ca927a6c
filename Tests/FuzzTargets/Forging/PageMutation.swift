/// The replacement of one number in a page.
package struct PageMutation: Sendable, CustomStringConvertible {
    /// The position of the number in the file of pages, in bytes.
    package let offset: Int
    package let width: Int
    package let value: UInt64
    package let description: String

    package init(_ page: ForgedPages.Page, at place: Int, width: Int, value: UInt64) {
        offset = page.offset + place
        self.width = width
        self.value = value
        description = "kind \(page.kind) page \(page.reference): \(width) bytes at \(place) become \(value)"
    }

    /// Returns the positions and widths of a page's numbers: those of its header, those at fixed positions for its kind,
    /// and some of its elements.
    package static func fields(of page: ForgedPages.Page, in pages: ForgedPages) -> [(place: Int, width: Int)] {
        let header = [(0, 8), (8, 2), (10, 1), (12, 4)]
        return (header + content(of: page, in: pages)).filter { $0.0 + $0.1 <= page.byteCount }.map { (place: $0.0, width: $0.1) }
    }

    private static func content(of page: ForgedPages.Page, in pages: ForgedPages) -> [(Int, Int)] {
        let words = stride(from: 16, to: page.byteCount, by: 4).map { ($0, 4) }
        /// Returns the positions and widths of some words (4 bytes) of the page. These are the first used words from a position on, the
        /// last used word, the word at the position, and the last word. A used word is neither 0 nor all ones.
        func used(from start: Int, _ count: Int) -> [(Int, Int)] {
            let found = words.filter { place, _ in
                let value = pages.value(at: page.offset + place, width: 4)
                return place >= start && value != 0 && value != UInt64(UInt32.max)
            }
            return Array(found.prefix(count)) + found.suffix(1) + [(start, 4), (page.byteCount - 4, 4)]
        }
        switch page.kind {
        case 1: return [(16, 8)] + words.dropFirst(2)
        case 2: return words + [(32, 8), (40, 8), (80, 8)]
        case 3: return used(from: 16, 4)
        case 4: return [(16, 4), (20, 4), (24, 8), (32, 8), (40, 8), (48, 8), (56, 8)] + words.filter { $0.0 >= 64 }
        case 5: return [(16, 8), (24, 8), (32, 1), (32, 8), (40, 8)] + used(from: 32, 2)
        case 6, 7: return used(from: 16, 4)
        case 8: return [(16, 4), (20, 4)] + used(from: 32, 6)
        case 9: return [(16, 8)] + words.dropFirst(2)
        case 10: return [(16, 1), (page.byteCount - 1, 1)]
        default: return [(16, 2), (18, 2), (20, 4), (62, 2), (158, 2), (734, 2)] + used(from: 32, 4)
        }
    }

    /// Returns replacements for a number: limits, neighbors of the number, and references to various positions.
    package static func values(of field: (place: Int, width: Int), _ page: ForgedPages.Page, in pages: ForgedPages) -> [UInt64] {
        let old = pages.value(at: page.offset + field.place, width: field.width)
        let mask: UInt64 = field.width == 8 ? .max : (1 << UInt64(8 * field.width)) - 1
        var values: [UInt64] = [0, 1, 2, mask, mask - 1, mask >> 1, mask >> 1 + 1, old &+ 1, old &- 1, old ^ 0x80]
        switch field.width {
        case 8: values += [0x7FF0 << 48, 0x7FF8 << 48, pages.record.epoch &+ 1, pages.record.epoch &+ 2, 1 << 38, 1 << 62]
        case 4:
            let same = pages.pages.first { $0.kind == page.kind && $0.offset != page.offset }
            let other = pages.pages.first { $0.kind != page.kind && $0.kind != 0 }
            let chunkCount = UInt64(pages.record.chunks.count)
            values += [UInt64(page.reference), UInt64(page.reference) + 1, chunkCount << 12, chunkCount << 12 - 1, 0xFF]
            values += [same, other].compactMap { $0.map { UInt64($0.reference) } }
        case 2: values += [15, 16, 112, 113, 255]
        default: values += [UInt64(UInt8(ascii: "\"")), 0x80]
        }
        var seen: Set<UInt64> = [old]
        return values.map { $0 & mask }.filter { seen.insert($0).inserted }
    }

    /// Returns each number of each page with each of its replacements.
    ///
    /// - Complexity: O(pages × numbers × values), which yields several hundred thousand mutations for a small store.
    package static func all(of pages: ForgedPages) -> [PageMutation] {
        pages.pages.filter { $0.kind != 0 }.flatMap { page in
            fields(of: page, in: pages).flatMap { field in
                values(of: field, page, in: pages).map { PageMutation(page, at: field.place, width: field.width, value: $0) }
            }
        }
    }

    /// Returns a random mutation of `all(of:)`, or one that replaces a number at any position in a page with a random number. Returns `nil`
    /// if there is no page.
    package static func random(of pages: ForgedPages, using random: inout some RandomNumberGenerator) -> PageMutation? {
        guard let page = pages.pages.randomElement(using: &random) else { return nil }
        if Int.random(in: 0..<4, using: &random) == 0 {
            let width = [1, 2, 4, 8].randomElement(using: &random) ?? 1
            let place = Int.random(in: 0..<page.byteCount / width, using: &random) * width
            return PageMutation(page, at: place, width: width, value: UInt64.random(in: 0...UInt64.max, using: &random))
        }
        guard let field = fields(of: page, in: pages).randomElement(using: &random),
            let value = values(of: field, page, in: pages).randomElement(using: &random)
        else { return nil }
        return PageMutation(page, at: field.place, width: field.width, value: value)
    }
}

extension Character {
    /// The number of columns that the character takes on a terminal: 2 for a wide character, such as a Chinese one or an emoji; 0 for a
    /// combining mark without a letter; otherwise 1. Source: Unicode Standard Annex 11, East Asian Width.
    var columnCount: Int {
        guard let scalar = unicodeScalars.first else { return 0 }
        if scalar.value < 0x300 { return 1 }
        if Self.wide.contains(where: { $0.contains(scalar.value) }) || scalar.properties.isEmojiPresentation { return 2 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return 1
        }
    }

    /// The scalars with the width W or F. Emoji are not listed.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
        0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18CFF, 0x1AFF0...0x1B2FF,
        0x1F200...0x1F2FF, 0x20000...0x3FFFD,
    ]
}

extension StringProtocol {
    /// The number of columns that the text takes on a terminal. The text has no control characters.
    var columnCount: Int {
        utf8.allSatisfy { $0 < 0x80 } ? utf8.count : reduce(0) { $0 + $1.columnCount }
    }

    /// Returns the longest beginning that fits into a number of columns.
    func prefix(columnCount columnCountMax: Int) -> SubSequence {
        var count = 0
        let end = indices.first { index in
            count += self[index].columnCount
            return count > columnCountMax
        }
        return self[..<(end ?? endIndex)]
    }
}

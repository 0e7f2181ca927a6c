extension StoredValueCheck {
    /// Returns the flaw in the first invalid value of a column of a block, or `nil` if all values are valid. The caller must have checked
    /// that the lengths of the values add up to the number of bytes. Complexity: O(bytes).
    package mutating func flaw(in column: AttributeColumn) -> String? {
        switch column.content {
        case .fixed(_, let bytes):
            // Nulls are stored as zeros, which are valid for each type.
            return bytes.withUnsafeBytes { Self.areValid(type, $0) } ? nil : Self.flaw(type)
        case .variable(let counts, let bytes):
            return bytes.withUnsafeBytes { flaw(in: $0, counts, column.presence) }
        }
    }

    private static func areValid(_ type: AttributeType, _ bytes: UnsafeRawBufferPointer) -> Bool {
        switch type {
        case .uuid, .int16, .int32, .int64: return true
        case .bool: return bytes.allSatisfy { $0 <= 1 }
        case .float:
            var isBad = false
            for offset in stride(from: 0, to: bytes.count, by: 4) {
                let bits = UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
                isBad = isBad || bits & floatExponent == floatExponent
            }
            return !isBad
        case .double, .date:
            var isBad = false
            for offset in stride(from: 0, to: bytes.count, by: 8) {
                let bits = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                isBad = isBad || !isValid(type, bits, 0)
            }
            return !isBad
        case .decimal, .string, .data, .uri, .json: return false
        }
    }

    private mutating func flaw(in heap: UnsafeRawBufferPointer, _ counts: [UInt32], _ presence: [UInt64]) -> String? {
        if let most = counts.max(), most > Self.byteCountMax { return "has more than \(Self.byteCountMax) bytes" }
        switch type {
        case .data: return nil
        case .string, .uri: return Self.areUTF8(heap, counts) ? nil : Self.flaw(type)
        default: break
        }
        var offset = 0
        for (index, count) in counts.enumerated() where presence[index >> 6] >> UInt64(index & 63) & 1 != 0 {
            let value = UnsafeRawBufferPointer(rebasing: heap[offset..<offset + Int(count)])
            if let flaw = flaw(bytes: value) { return flaw }
            offset += Int(count)
        }
        return nil
    }

    /// Checks all texts in one pass. If their concatenation is UTF-8, each text is UTF-8, unless a boundary between two texts splits a
    /// character.
    private static func areUTF8(_ heap: UnsafeRawBufferPointer, _ counts: [UInt32]) -> Bool {
        let (isUTF8, isASCII) = encoding(heap)
        if !isUTF8 || isASCII { return isUTF8 }
        var offset = 0
        for count in counts {
            if count > 0, heap[offset] & 0xC0 == 0x80 { return false }
            offset += Int(count)
        }
        return true
    }
}

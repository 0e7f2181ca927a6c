internal import CambiumJSON
public import CambiumModel

/// The place of the rows in each JSON document of an input, as a JSON pointer (RFC 6901) in which `*` means every element or member.
///
/// If the pointer leads to an array, the elements of the array are the rows. Otherwise, the value at the place is a row. An array after
/// another array is a document of its own.
///
/// ```swift
/// var options = ImportOptions()
/// options.rows = try RowPointer("/data")  // {"total": 2, "data": [{"id": 1}, {"id": 2}]}
/// ```
public struct RowPointer: Sendable, Hashable {
    enum Step: Hashable {
        /// A key of an object; in an array, the index of an element.
        case key([UInt8], index: Int?)
        case all
    }

    /// The pointer, such as `/data` or `/items/*`.
    public let text: String
    let steps: [Step]

    /// Reads a pointer. An empty text means the documents themselves, as without a pointer. Complexity: O(bytes).
    ///
    /// - Throws: `.invalidInput` if the text does not begin with `/`, or if a `~` is not part of `~0` or `~1`.
    public init(_ text: String) throws(CambiumError) {
        guard text.isEmpty || text.utf8.first == UInt8(ascii: "/") else {
            let message = "The pointer to the rows is '\(text.excerpt)', but must begin with '/'. Write it as '/data' or '/items/*'."
            throw CambiumError(.invalidInput, message)
        }
        let parts = text.utf8.split(separator: UInt8(ascii: "~"), omittingEmptySubsequences: false).dropFirst()
        guard parts.allSatisfy({ $0.first == UInt8(ascii: "0") || $0.first == UInt8(ascii: "1") }) else {
            let message =
                "The pointer to the rows has '~' without 0 or 1 in '\(text.excerpt)'. Write '~0' for '~', and '~1' for '/' in a key."
            throw CambiumError(.invalidInput, message)
        }
        self.text = text
        steps = JSONPointer.keys(text).map { key in
            let isIndex = !key.isEmpty && key.utf8.allSatisfy { (0x30...0x39).contains($0) }
            return key == "*" ? .all : .key(Array(key.utf8), index: isIndex ? Int(key) : nil)
        }
    }
}

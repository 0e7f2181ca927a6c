import Cambium
import CambiumJSON

/// A mistake in a line of the prompt.
struct PromptMistake: Error {
    private(set) var error: CambiumError
    /// The byte offset of the mistake, if it is known.
    let offset: Int?

    init(_ code: CambiumError.Code, _ message: String, at offset: Int?) { self.init(CambiumError(code, message), at: offset) }

    init(_ message: String, at offset: Int?) { self.init(.invalidInput, message, at: offset) }

    /// - Parameter offset: The position of the mistake in the line, which replaces the position in `error`. If `offset` is `nil`, `error`
    ///   keeps its position.
    init(_ error: CambiumError, at offset: Int?) {
        self.error = error
        self.offset = offset
        self.error.place = offset == nil ? error.place : nil
    }

    /// The maximum number of code points that are shown on each side of the mistake.
    private static let excerptLength = 120

    /// Returns the lines that show the position of the mistake: the line around the position, and a caret below the position. The details
    /// of the error follow.
    func excerpt(of line: String) -> [String] {
        let details = error.details.map { "  " + $0 }
        guard let offset else { return details }
        let before = Array(String(decoding: line.utf8.prefix(offset), as: UTF8.self).unicodeScalars)
        let after = Array(String(decoding: line.utf8.dropFirst(offset), as: UTF8.self).unicodeScalars)
        let start = (before.count > Self.excerptLength ? "..." : "") + Self.text(before.suffix(Self.excerptLength))
        let end = Self.text(after.prefix(Self.excerptLength)) + (after.count > Self.excerptLength ? "..." : "")
        // Control characters are shown as escapes of several columns, so the position of the caret is computed from the escaped text.
        return ["  " + start + end, "  " + String(repeating: " ", count: ControlText.escaped(start).columnCount) + "^"] + details
    }

    private static func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return String(text)
    }
}

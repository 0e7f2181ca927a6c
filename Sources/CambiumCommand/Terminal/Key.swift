/// A key press that the line editor receives from the terminal.
enum Key: Equatable {
    case character(Character)
    /// A letter with the control key, in lower case.
    case control(Character)
    case enter, tab, backspace, delete
    case left, right, up, down, home, end
    case wordLeft, wordRight, deleteWord
    /// A key that has no meaning for the editor, or bytes that are not UTF-8.
    case unknown
}

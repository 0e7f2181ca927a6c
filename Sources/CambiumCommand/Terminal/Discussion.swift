/// The part of a command's help that follows the abstract.
enum Discussion {
    /// Returns a paragraph and examples of the command.
    static func text(_ paragraph: String = "", examples: String...) -> String {
        let list = ([examples.count == 1 ? "Example:" : "Examples:"] + examples.map { "  " + $0 }).joined(separator: "\n")
        return paragraph.isEmpty ? list : paragraph + "\n\n" + list
    }
}

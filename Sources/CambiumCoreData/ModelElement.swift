/// An XML element of a model, with its attributes and children.
struct ModelElement {
    let name: String
    let attributes: [String: String]
    /// The position at which the start tag ends, counted from 1, for error messages.
    let line: Int
    let column: Int
    var children: [ModelElement] = []
    var text = ""

    subscript(_ attribute: String) -> String? { attributes[attribute] }

    func children(_ name: String) -> [ModelElement] { children.filter { $0.name == name } }
}

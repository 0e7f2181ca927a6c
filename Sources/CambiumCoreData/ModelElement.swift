/// An element of a model's XML, with what is inside it.
struct ModelElement {
    let name: String
    let attributes: [String: String]
    /// Where the start tag ends. Counted from 1.
    let line: Int
    let column: Int
    var children: [ModelElement] = []
    var text = ""

    subscript(_ attribute: String) -> String? { attributes[attribute] }

    func children(_ name: String) -> [ModelElement] { children.filter { $0.name == name } }
}

import Cambium

/// The code of the document about undo, word for word. The code is compiled only; the tests of the guide about audit run such code.
enum UndoReferenceSnippets {
    static func undo(_ store: Store) throws -> UndoReceipt {
        let undo = try store.undo(.transaction(TransactionNumber(rawValue: 41)), author: Author(actor: "jane"))
        return undo
    }
}

internal import CambiumBytes
import CambiumGraph
import CambiumModel

/// A state of an edit in which records were read or saved. The refs of these records share it, so that the next save of a record can find
/// out what the program has changed.
package final class EditMoment: Sendable {
    package struct State {
        package let edit: Edit
        /// The values and members that properties had before the save changed them; empty after a read.
        package var formerValues: [EditPlace: Value] = [:]
        package var formerMembers: [EditPlace: [ObjectID]] = [:]

        package init(edit: Edit, formerValues: [EditPlace: Value] = [:], formerMembers: [EditPlace: [ObjectID]] = [:]) {
            (self.edit, self.formerValues, self.formerMembers) = (edit, formerValues, formerMembers)
        }
    }

    package let lineage: EditLineage
    /// Whether the records were read from a preview of the edit, which computes derived attributes. An edit has those of its base.
    package let isPreview: Bool
    private let known: Guarded<State?>

    /// Creates a moment at which records are read.
    package init(of edit: Edit, isPreview: Bool = false) {
        (lineage, self.isPreview) = (edit.lineage, isPreview)
        known = Guarded(State(edit: edit.snapshot))
    }

    /// Creates a moment at which records are saved. The state is not known until the save has ended, because an edit that has a copy must
    /// copy a part of its changes at the next write.
    package init(savingIn lineage: EditLineage) {
        (self.lineage, isPreview) = (lineage, false)
        known = Guarded(nil)
    }

    /// The state of the edit; `nil` during the save.
    package var state: State? { known.withLock { $0 } }

    /// Ends the save.
    package func end(_ state: State) { known.withLock { $0 = state } }
}

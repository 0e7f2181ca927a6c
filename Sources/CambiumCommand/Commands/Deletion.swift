import Cambium
import CambiumJSON

/// The objects that a deletion reached through delete rules, in the output of a command.
enum Deletion {
    /// Returns the number of objects that a transaction deleted, except for the objects that the command named. Returns 0 for a transaction
    /// that deleted no objects.
    static func reachedCount(from before: Graph, to after: Graph, _ namedCount: Int) -> Int {
        max(0, before.objectCount - after.objectCount - namedCount)
    }

    static func text(_ reachedCount: Int) -> String { reachedCount == 0 ? "" : " and \(Readable.of(reachedCount, "more object"))" }
}

extension JSONWriter {
    /// Writes the number of objects that a deletion reached through delete rules, if there are any.
    mutating func cascaded(_ count: Int) {
        if count > 0 { member("cascaded", count) }
    }
}

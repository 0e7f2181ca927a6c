import ArgumentParser
import Cambium

/// A condition that selects the objects that a command shows or visits.
struct FilterOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,  // A condition may begin with a minus sign.
        help: .init(
            "Use only objects that satisfy this condition, such as 'price > 3 and any tags.name == \"red\"'. An object does not "
                + "satisfy it if its entity lacks a property that the condition names, or if the type of the property does not fit.",
            valueName: "condition"))
    var `where`: String?
    @Option(help: .init("Set a parameter of the condition, as find does.", valueName: "name=value")) var set: [AssignmentArgument] = []

    func validate() throws {
        try Arguments.checkOnce("--where")
        try set.checkNames()
        if `where` == nil, let first = set.first {
            throw ValidationError("--set gives a value to $\(first.name), but there is no condition. Add --where, or omit --set.")
        }
    }

    var isUsed: Bool { `where` != nil }

    /// Returns the filter; `nil` without a condition. Throws if the condition does not fit any of the entities.
    func filter(_ graph: Graph, among entities: [Entity]) throws -> ObjectFilter? {
        guard let text = `where` else { return nil }
        return try QueryRequest.named("--where") { try graph.filter(text, set.operands(), among: entities) }
    }
}

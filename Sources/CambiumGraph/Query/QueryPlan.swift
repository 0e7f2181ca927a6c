/// The steps by which a query finds its objects, in the order in which they run.
///
/// ```swift
/// let plan = try graph.answer(Query("Person", where: "age > 30 and city.name == \"Paris\"")).plan
/// for step in plan.steps { print(step.kind, step.readCount, step.objectCount) }
/// ```
public struct QueryPlan: Sendable {
    /// One step of a plan.
    public struct Step: Sendable, Hashable {
        /// The work of a step.
        public enum Kind: String, Sendable, Hashable {
            /// Finds objects by their ids, or by the values of their identity attributes.
            case identity
            /// Reads a part of an ordered index.
            case index
            /// Follows a relationship back from its targets to the objects.
            case inverse
            /// Reads all objects of an entity.
            case scan
            /// Sorts the objects or the groups that were found.
            case sort
            /// Omits objects or groups before the offset and after the limit. A step with a name omits the groups that do not satisfy the
            /// condition on groups.
            case limit
        }

        /// The work of the step.
        public let kind: Kind
        /// The name of the index, the relationship, the entity or the sort keys that the step uses. For a condition on groups, it is the
        /// word `having` and the text of the condition.
        public let name: String?
        /// The number of objects that the planner expects; `nil` if it has no estimate.
        public let estimatedCount: Int?
        /// The number of objects that the step returned. If the query has groups, `sort` and `limit` return groups.
        public let objectCount: Int
        /// The number of rows that the step read.
        public let readCount: Int
    }

    /// The steps, in the order in which they run.
    public internal(set) var steps: [Step] = []
    /// The time that the whole query took.
    public internal(set) var duration: Duration = .zero
}

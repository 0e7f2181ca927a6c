import Cambium
import CambiumGraph

extension Store {
    /// The faults in the pages of a store. A background checkpoint waits while they are determined.
    package var pageFindings: [String] { writer.lock.hold { PageChecker.findings(in: writer.timeline) } }
}

@testable import Cambium
@testable import CambiumGraph

extension Store {
    /// What is wrong with the pages of a store. A checkpoint in the background waits meanwhile.
    var pageFindings: [String] { committer.writing.hold { PageChecker.findings(in: committer.timeline) } }
}

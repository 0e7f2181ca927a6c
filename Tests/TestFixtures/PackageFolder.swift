import Foundation

/// The folder of the package, with the documents and cases that tests read.
package enum PackageFolder {
    package static let url = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Returns the text of a file. A test fails that cannot read it, because the text is empty.
    package static func text(_ path: String) -> String { (try? String(contentsOf: url.appending(path: path), encoding: .utf8)) ?? "" }
}

import Foundation

/// Requires that .gitignore names the products of a build, wherever they are in the checkout.
///
/// The products themselves may exist, because building these tests makes them.
struct BuildProductRule {
    /// The shell patterns of products, for the last part of a path.
    static let products = [".build", ".build-*", ".build_*", "Package.resolved", "*.o", "*.profraw"]

    /// The lines of .gitignore.
    let ignored: [String]

    init(_ file: TextFile) {
        self.ignored = file.lines.map { String($0).trimmingCharacters(in: .whitespaces) }
    }

    func violations(paths: [String]) -> [Violation] {
        paths.filter { path in
            let name = (path as NSString).lastPathComponent
            return Self.products.contains { Self.matches(name, $0) } && !ignored.contains { ignores($0, name) }
        }
        .map { Violation(path: $0, reason: "is a product of a build, and .gitignore does not name it") }
    }

    private func ignores(_ line: String, _ name: String) -> Bool {
        !line.hasPrefix("#") && Self.matches(name, line.hasSuffix("/") ? String(line.dropLast()) : line)
    }

    /// Whether a name matches a pattern with at most one star, which matches any number of characters.
    private static func matches(_ name: String, _ pattern: String) -> Bool {
        guard let star = pattern.firstIndex(of: "*") else { return name == pattern }
        let prefix = pattern[..<star]
        let suffix = pattern[pattern.index(after: star)...]
        return name.count >= prefix.count + suffix.count && name.hasPrefix(prefix) && name.hasSuffix(suffix)
    }
}

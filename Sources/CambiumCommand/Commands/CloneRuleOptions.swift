import ArgumentParser
import Cambium
import CambiumJSON

/// The options that state rules of a clone. A rule from these options replaces the rule in the schema.
struct CloneRuleOptions: ParsableArguments {
    @Option(help: .init("Skip these relationships at every level.", valueName: "names")) var exclude: [String] = []
    @Option(help: .init("Skip these relationships of the given objects only.", valueName: "names")) var excludeAtRoot: [String] = []
    @Option(help: .init("Copy the targets of these relationships.", valueName: "names")) var copy: [String] = []
    @Option(help: .init("Share the targets of these relationships.", valueName: "names")) var share: [String] = []
    @Option(
        parsing: .unconditional,  // Accepts a minus sign, so that an error can state the negative number.
        help: .init("Copy at most this many levels below the given objects.", valueName: "count"))
    var depth: Int?
    @Option(help: .init("Use another name for a key of userInfo, such as exclude=leaveOut.", valueName: "key=name"))
    var key: [KeyArgument] = []

    func validate() throws {
        if let depth, depth < 0 { throw ValidationError("--depth is \(depth), but must be at least 0.") }
        if let repeated = key.first(where: { one in key.count { $0.name == one.name } > 1 }) {
            throw ValidationError("--key \(repeated.name) is given twice. Give it once.")
        }
        let named = NameList.names(in: exclude) + NameList.names(in: copy) + NameList.names(in: share)
        if let name = named.first(where: { name in named.count { $0 == name } > 1 && Set(rules(named: name)).count > 1 }) {
            throw ValidationError("'\(Excerpt.plain(name))' has more than one rule. Name it in only one of --exclude, --copy and --share.")
        }
    }

    /// The rules as texts. The store recognizes a repeated command by a digest of these texts and of the other arguments.
    var requestParts: [String] {
        let lists = [("exclude", exclude), ("exclude-at-root", excludeAtRoot), ("copy", copy), ("share", share)]
        return lists.flatMap { name, texts in NameList.names(in: texts).map { "--\(name)=\($0)" } }
    }

    /// Returns a request with these rules.
    func request(objectCountMax: Int?) -> CloneRequest {
        var request = CloneRequest(
            excluding: NameList.names(in: exclude), excludedAtRoot: NameList.names(in: excludeAtRoot), depth: depth,
            objectCountMax: objectCountMax)
        for name in NameList.names(in: copy) { request.rules[name] = .copy }
        for name in NameList.names(in: share) { request.rules[name] = .share }
        for key in key { request.keys[keyPath: key.path] = key.text }
        return request
    }

    private func rules(named name: String) -> [CloneRule] {
        [(exclude, CloneRule.skip), (copy, .copy), (share, .share)].filter { NameList.names(in: $0.0).contains(name) }.map(\.1)
    }
}

/// A different name for a `userInfo` key that controls clones, such as `exclude=leaveOut`.
struct KeyArgument: ExpressibleByArgument {
    let name: String
    let text: String

    init?(argument: String) {
        guard let equals = argument.firstIndex(of: "=") else { return nil }
        name = String(argument[..<equals])
        text = String(argument[argument.index(after: equals)...])
        guard Self.paths[name] != nil, !text.isEmpty else { return nil }
    }

    var path: WritableKeyPath<CloneKeys, String> { Self.paths[name] ?? \.exclude }

    private static var paths: [String: WritableKeyPath<CloneKeys, String>] {
        ["exclude": \.exclude, "rebuild": \.rebuild, "followParent": \.followParent, "withoutParent": \.withoutParent]
    }
}

import Foundation

/// A directory in which commands run: the store, its archive and input, and the files that no command may touch.
///
///     store/      the store, with a foreign file `keep.txt`
///     archive/    its archive, if it has one
///     outside/    the targets of planted links
///     input/      schemas and rows
///     out         the output of commands
struct Site {
    let directory: String
    private let attack: Attack

    init(copying source: String, _ attack: Attack) throws {
        self.attack = attack
        directory = try attack.makeDirectory()
        try Tree.copy(source, to: directory)
    }

    func path(_ name: String) -> String { directory + "/" + name }

    func run(_ arguments: [String], milliseconds: Int = 15_000) throws -> Outcome {
        try Child.run(attack.options.cambium, arguments, in: directory, milliseconds: milliseconds)
    }

    func start(_ arguments: [String]) throws -> Child { try Child(attack.options.cambium, arguments, in: directory) }

    func tree(_ name: String) throws -> Tree {
        try FileManager.default.fileExists(atPath: path(name)) ? Tree(path(name)) : Tree()
    }

    func remove() throws { try FileManager.default.removeItem(atPath: directory) }

    func remove(_ name: String) throws {
        if FileManager.default.fileExists(atPath: path(name)) { try FileManager.default.removeItem(atPath: path(name)) }
    }
}

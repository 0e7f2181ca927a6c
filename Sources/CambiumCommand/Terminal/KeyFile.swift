import ArgumentParser
import Cambium
import Glibc

/// A file with secret keys, one a line, the newest first. Only its owner may read it.
enum KeyFile {
    private static let byteCountMax = 1 << 16
    private static let keyCountMax = 16

    /// Reads the keys. Throws `.invalidInput` if others may read the file, or if a line is not a key.
    static func read(_ path: String) throws -> [SigningKey] {
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0 {
            throw CambiumError(
                .invalidInput,
                "Other users may read or change the secret key. Run 'chmod 600' for the file, and replace the key if needed.",
                place: .init(file: path))
        }
        let lines = try Terminal.contents(of: path, byteCountMax: byteCountMax).split(separator: UInt8(ascii: "\n"))
        guard (1...keyCountMax).contains(lines.count) else {
            throw CambiumError(.invalidInput, "A file of keys has 1 to \(keyCountMax) keys, one a line.", place: .init(file: path))
        }
        return try lines.map { line in
            do throws(CambiumError) {
                return try SigningKey(parsing: String(decoding: line, as: UTF8.self))
            } catch {
                var error = error
                error.place = .init(file: path)
                throw error
            }
        }
    }

    /// Throws a usage error if the output would replace the keys.
    static func checkDiffers(_ path: String, from output: String?) throws {
        guard let output else { return }
        let key = place(path)
        if [key, key + memorySuffix, key + memorySuffix + ".lock"].contains(place(output)) {
            throw ValidationError("--to names the file of the key, or the file beside it for what the key has signed. Name another file.")
        }
    }

    /// The end of the name of the file beside the keys that has what they have signed.
    private static let memorySuffix = ".signed"

    /// Returns the path to which a path leads. The file may not exist yet.
    private static func place(_ path: String) -> String {
        if let found = path.resolvedPath { return found }
        guard let slash = path.lastIndex(of: "/") else { return (".".resolvedPath ?? ".") + "/" + path }
        return (String(path[...slash]).resolvedPath ?? String(path[..<slash])) + path[slash...]
    }

    /// Signs a store with the keys of a file. A file beside them remembers the last tree of each store.
    static func sign(_ store: String, with path: String) throws -> SignedNote {
        let keys = try read(path)
        let file = place(path)
        let folder = file.lastIndex(of: "/").map { String(file[...$0]) } ?? "."
        var status = stat()
        // A memory that exists is never ignored. If it cannot be updated, nothing is signed.
        let isRemembered = access(file + memorySuffix, F_OK) == 0
        guard isRemembered || stat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(folder, W_OK) == 0 else {
            Terminal.error(
                "cambium: No file beside '\(path)' can remember what the key has signed. Sign no other copy of the store with it.")
            return try Store.sign(at: store, with: keys)
        }
        return try Store.sign(at: store, with: keys, memory: file + memorySuffix)
    }

    /// Makes a key in a new file, and returns its public key.
    static func create(_ path: String, name: String, _ kind: NoteKeyKind) throws -> NoteKey {
        let key = try newKey(name, kind)
        // An existing file is never replaced: the empty file reserves the name for the complete one.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let reason = String(cString: strerror(errno))
            throw CambiumError(.cannotCreate, "The file of the key cannot be created: \(reason).", place: .init(file: path))
        }
        close(descriptor)
        do {
            try write([key], to: path)
        } catch {
            unlink(path)
            throw error
        }
        return key.verifier
    }

    /// Adds a new key with the name of the first one in front of it, and returns the new public key. From then on both sign.
    static func rotate(_ path: String) throws -> NoteKey {
        let keys = try read(path)
        guard let first = keys.first, keys.count < keyCountMax else {
            throw CambiumError(.limitExceeded, "The file has \(keys.count) keys. Remove the lines of old keys.", place: .init(file: path))
        }
        let key = try newKey(first.verifier.name, first.verifier.kind)
        try write([key] + keys, to: path)
        return key.verifier
    }

    private static func newKey(_ name: String, _ kind: NoteKeyKind) throws -> SigningKey {
        var generator = SystemRandomNumberGenerator()
        return try SigningKey(name: name, kind: kind, secret: (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }

    private static func write(_ keys: [SigningKey], to path: String) throws(CambiumError) {
        try OutputFile.replace(path, with: keys.map { $0.secretText + "\n" }.joined(), option: "--key", mode: 0o600)
    }
}

internal import CambiumBytes
package import CambiumLog
package import CambiumModel
public import CambiumProofs

extension Store {
    /// The file with the last checkpoint that the store has signed, and the one that is locked while the store signs.
    private enum SigningFile {
        static let note = "signed"
        static let lock = "signed.lock"
    }

    /// Signs the size and the root of the tree over the log of a store, as a C2SP checkpoint. The store may be open in another process.
    ///
    /// The notes that one store signs are never inconsistent. The size and the root are durable in the store before this call returns the
    /// note. A later call only signs a tree that begins with the signed one. A backup that was made earlier does not know what the store
    /// has signed since then: pass a file as `memory`, so that a restored store cannot sign another history.
    ///
    /// ```swift
    /// let secret = (0..<32).map { _ in UInt8.random(in: 0...255) }
    /// let key = try SigningKey(name: "example.com/notes", kind: .log, secret: secret)
    /// print(try Store.sign(at: "notes", with: [key]))
    /// ```
    ///
    /// Throws `.conflict` if the tree does not begin with the tree that was signed before: the store is an older copy, or was rewritten.
    /// Throws `.invalidInput` if there is no key, or if one is not a log's, `.locked` while another process signs, and the errors of
    /// reading the log. Complexity: O(bytes of the log since the last full tile of its tree).
    ///
    /// - Parameters:
    ///   - path: the directory of the store.
    ///   - keys: the keys that sign. The name of the first one is the origin of the log. With several, all of them sign, so that a key can
    ///     be replaced while readers still have the old one.
    ///   - memory: a file beside the keys. It has the last tree that the keys have signed for each store, and is created if it does not
    ///     exist. A file of this name with `.lock` is its lock.
    public static func sign(at path: String, with keys: [SigningKey], memory: String? = nil) throws -> SignedNote {
        try sign(SystemVolume(root: path), with: keys, memory: memory.map { SystemVolume.file($0) })
    }

    /// - Parameter memory: the directory and the name of the file that remembers what the keys have signed.
    package static func sign(
        _ volume: any Volume, with keys: [SigningKey], memory: (folder: any Volume, name: String)? = nil
    ) throws -> SignedNote {
        guard let origin = keys.first?.verifier.name else { throw CambiumError(.invalidInput, "Give a key to sign with.") }
        if keys.contains(where: { $0.verifier.kind != .log }) {
            throw CambiumError(
                .invalidInput, "A witness's key cannot sign a log. Make one of a log: 'cambium sign --generate NAME --key FILE'.")
        }
        // Throws if there is no store, before the file of the lock is made.
        let id = try StoreSettings.read(volume).store
        let lock = try volume.lock(SigningFile.lock)
        defer { lock.unlock() }
        var log = try LogReader.rereading(volume) { try TiledLog($0, TileFiles(volume, .cache)) }
        if let last = try lastSigned(volume) {
            guard last.size <= log.size, try log.root(ofFirst: last.size) == last.root else {
                throw CambiumError(
                    .conflict,
                    "The store has signed a tree of \(last.size) transactions with the root \(last.root), and its log of \(log.size) "
                        + "transactions does not continue it. The log was rewritten, or is an older copy. Nothing was signed.")
            }
        }
        let memoryLock = try memory.map(SigningMemory.lock)
        defer { memoryLock?.unlock() }
        var known = try memory.map { try SigningMemory($0.folder, $0.name) }
        if let last = known?.tree(of: id) {
            guard last.size <= log.size, try log.root(ofFirst: last.size) == last.root else {
                throw CambiumError(
                    .conflict,
                    "The key has signed a tree of \(last.size) transactions of this store with the root \(last.root), and the log of "
                        + "\(log.size) transactions does not continue it. The store is an older or another copy. Nothing was signed. Sign "
                        + "the newest copy, or make a new key for this one.")
            }
        }
        let note = try TreeHead(origin: origin, size: log.size, root: log.root).signed(with: keys, seconds: 0)
        try volume.replace(SigningFile.note, Array(note.description.utf8))
        try volume.syncDirectory("")
        try known?.remember(log.size, log.root, of: id)
        return note
    }

    /// Returns the last checkpoint that the store in a directory has signed, as the other `lastSigned` does.
    package static func lastSigned(at path: String) throws(CambiumError) -> TreeHead? { try lastSigned(SystemVolume(root: path)) }

    /// Returns the last checkpoint that a store has signed; `nil` if it has signed none. Throws `.corrupted` if the file of the checkpoint
    /// is corrupt.
    package static func lastSigned(_ volume: any Volume) throws(CambiumError) -> TreeHead? {
        guard let note = try lastSignedNote(volume) else { return nil }
        return try TreeHead(note)
    }

    static func lastSignedNote(_ volume: any Volume) throws(CambiumError) -> SignedNote? {
        guard try volume.exists(SigningFile.note) else { return nil }
        do throws(CambiumError) {
            let note = try SignedNote(parsing: try volume.bytes(of: SigningFile.note))
            _ = try TreeHead(note)
            return note
        } catch {
            guard error.code == .invalidInput else { throw error }
            throw CambiumError(
                .corrupted,
                "The last signed checkpoint of the store is corrupt, so nothing can be signed. Replace it by the last published note.",
                place: .init(file: "\(volume.name)/\(SigningFile.note)"), underlying: error)
        }
    }
}

extension SystemVolume {
    /// Returns the directory and the name of a file.
    fileprivate static func file(_ path: String) -> (folder: any Volume, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (SystemVolume(root: "."), path) }
        return (SystemVolume(root: String(path[...slash])), String(path[path.index(after: slash)...]))
    }
}

internal import CambiumBytes
internal import CambiumLog
import CambiumModel
internal import CambiumProofs

/// The last tree that a file of keys has signed for each store, in a file beside the keys.
///
/// A store remembers what it has signed, but a backup that was made before does not. So only the memory beside the keys notices that a
/// restored store has another history than the one that was signed. Each line has the id of a store in hexadecimal, the size and the root.
struct SigningMemory {
    private let volume: any Volume
    private let name: String
    private var trees: [String: (size: UInt64, root: TreeHash)] = [:]

    /// The time for which a process waits while another one signs with the keys.
    private static let waitMax = Duration.seconds(10)

    /// Locks the file.
    static func lock(_ folder: any Volume, _ name: String) throws(CambiumError) -> any VolumeLock {
        do throws(CambiumError) {
            return try folder.lock(name + ".lock", waitingUpTo: waitMax)
        } catch {
            guard error.code == .locked else { throw error }
            throw CambiumError(
                .locked, "Another process signs with the keys. Repeat the command when it has ended.",
                place: .init(file: "\(folder.name)/\(name)"), underlying: error)
        }
    }

    /// Reads the file, if it exists. The caller holds the lock.
    init(_ volume: any Volume, _ name: String) throws(CambiumError) {
        (self.volume, self.name) = (volume, name)
        guard try volume.exists(name) else { return }
        let bytes = try volume.bytes(of: name)
        guard bytes.isEmpty || bytes.last == UInt8(ascii: "\n") else { throw corrupted }
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let words = String(decoding: line, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false).map(String.init)
            guard words.count == 3, words[0].utf8.count == 32, let size = UInt64(words[1]), let root = TreeHash(hex: words[2]) else {
                throw corrupted
            }
            trees[words[0]] = (size, root)
        }
    }

    private var corrupted: CambiumError {
        CambiumError(
            .corrupted, "The file of what the keys have signed is corrupt, so nothing was signed. Restore it, or make a new key.",
            place: .init(file: "\(volume.name)/\(name)"))
    }

    /// Returns the last tree that was signed for a store; `nil` if there is none.
    func tree(of store: [UInt8]) -> (size: UInt64, root: TreeHash)? { trees[HexText.encode(store)] }

    /// Remembers a tree. It is durable when the call returns.
    mutating func remember(_ size: UInt64, _ root: TreeHash, of store: [UInt8]) throws(CambiumError) {
        trees[HexText.encode(store)] = (size, root)
        let lines = trees.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.size) \($0.value.root)\n" }
        let bytes = Array(lines.joined().utf8)
        guard bytes.count <= SystemVolume.smallByteCountMax else {
            throw CambiumError(.limitExceeded, "The keys have signed \(lines.count) stores. Make a new file of keys for the others.")
        }
        try volume.replace(name, bytes)
        try volume.syncDirectory("")
    }
}

import CambiumBytes
import CambiumModel
import Foundation

@testable import CambiumProofs

/// A generator of numbers that are the same in each run (SplitMix64).
struct Numbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// A log of which each leaf is its own index.
struct SampleLog {
    let leaves: [TreeHash]

    init(_ count: Int) { leaves = (0..<count).map { Self.leaf(UInt64($0)) } }

    static func leaf(_ index: UInt64) -> TreeHash { .leaf(Array("entry \(index)".utf8)) }

    /// The hash of a complete subtree, by the definition of RFC 6962.
    func hash(_ subtree: Subtree) -> TreeHash {
        Self.root(leaves[Int(subtree.index << UInt64(subtree.level))...].prefix(1 << subtree.level))
    }

    func root(_ size: Int) -> TreeHash { Self.root(leaves.prefix(size)) }

    private static func root(_ leaves: ArraySlice<TreeHash>) -> TreeHash {
        if leaves.isEmpty { return .ofEmptyTree }
        if leaves.count == 1 { return leaves[leaves.startIndex] }
        var left = 1
        while 2 * left < leaves.count { left *= 2 }
        return .node(root(leaves.prefix(left)), root(leaves.dropFirst(left)))
    }
}

enum Sample {
    /// A key and a note of C2SP signed-note.
    static let key = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
    static let note = """
        This is an example message.

        — example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=

        """

    static func key(_ number: UInt8, _ kind: NoteKeyKind = .log, name: String = "example.com/log") throws -> SigningKey {
        try SigningKey(name: name, kind: kind, secret: Array(repeating: number, count: 32))
    }

    /// Returns a signed checkpoint of a sample log.
    static func checkpoint(_ log: SampleLog, _ size: Int, keys: [SigningKey]) throws -> SignedNote {
        try TreeHead(origin: "example.com/log", size: UInt64(size), root: log.root(size)).signed(with: keys, seconds: 1_700_000_000)
    }

    /// The edge cases of C2SP CCTV for Ed25519; `nil` if they are not there.
    static var edgeCases: URL? {
        data.map { $0.appending(path: "cctv/ed25519vectors.json") }.flatMap { FileManager.default.fileExists(atPath: $0.path) ? $0 : nil }
    }

    /// Returns the folder of the data that others publish; `nil` if it is not there.
    static var data: URL? {
        ProcessInfo.processInfo.environment["CAMBIUM_DATA"].map { URL(filePath: $0) }
    }
}

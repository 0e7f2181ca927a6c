import CambiumModel
import Foundation
import Testing

@testable import CambiumProofs

@Suite struct MerkleProofTests {
    private static let log = SampleLog(200)

    @Test func `every leaf of every tree up to 64 leaves is proved, and no other leaf by the same proof`() {
        for size in UInt64(1)...64 {
            for index in 0..<size {
                let proof = InclusionProof.make(index: index, size: size, Self.log.hash)
                #expect(proof.root(of: SampleLog.leaf(index)) == Self.log.root(Int(size)))
                #expect(proof.root(of: SampleLog.leaf(index + 1)) != Self.log.root(Int(size)))
                #expect(InclusionProof(index: index, size: size, path: proof.path + [.ofEmptyTree]).root(of: SampleLog.leaf(index)) == nil)
                #expect(InclusionProof(index: size, size: size, path: proof.path).root(of: SampleLog.leaf(index)) == nil)
            }
        }
    }

    @Test func `every two sizes up to 64 are proved consistent, and no other root is`() {
        for size in UInt64(1)...64 {
            let root = Self.log.root(Int(size))
            for old in 0...size {
                let proof = ConsistencyProof.make(oldSize: old, size: size, Self.log.hash)
                #expect(proof.holds(from: Self.log.root(Int(old)), to: root))
                #expect(!proof.holds(from: SampleLog.leaf(7000), to: root))
                #expect(old == 0 || !proof.holds(from: Self.log.root(Int(old)), to: Self.log.root(Int(size) + 1)))
                for wrong in [proof.path + [root], Array(proof.path.dropLast())] where wrong != proof.path {
                    #expect(!ConsistencyProof(oldSize: old, size: size, path: wrong).holds(from: Self.log.root(Int(old)), to: root))
                }
            }
        }
    }

    @Test func `tiles lead to the roots and proofs of trees of any size, continued at any size`() throws {
        var numbers = Numbers(state: 1)
        var (tiles, builder) = ([Tile: [UInt8]](), TileBuilder())
        var tree = MerkleTree()
        for size in 1...70_000 {
            let leaf = SampleLog.leaf(UInt64(size - 1))
            builder.append(leaf) { tiles[$0] = $1 }
            tree.append(leafHash: leaf)
            guard size == 70_000 || size == 256 || Int.random(in: 0..<2000, using: &numbers) == 0 else { continue }
            builder.finish { tiles[$0] = $1 }
            var read = TileTree(size: UInt64(size)) { try #require(tiles[$0]) }
            #expect(try read.root() == tree.root)
            let index = UInt64.random(in: 0..<UInt64(size), using: &numbers)
            #expect(try read.inclusion(of: index).root(of: SampleLog.leaf(index)) == tree.root)
            builder = try TileBuilder(size: UInt64(size)) { try #require(tiles[$0]) }
        }
        #expect(tiles.keys.count { $0.kind == .hashes(level: 0) && $0.width == 256 } == 273)
        #expect(tiles[Tile(.hashes(level: 2), index: 0, width: 1)] != nil && tiles[Tile(.hashes(level: 1), index: 1, width: 17)] != nil)
    }

    @Test(arguments: [
        (Tile(.hashes(level: 3), index: 1_234_067), "tile/3/x001/x234/067"), (Tile(.entries, index: 0, width: 5), "tile/entries/000.p/5"),
        (Tile(.hashes(level: 0), index: 999, width: 255), "tile/0/999.p/255"), (Tile(.entries, index: 1000), "tile/entries/x001/000"),
    ])
    func `the path of a tile is that of the specification`(tile: Tile, path: String) { #expect(tile.path == path) }

    /// The log of transparency-dev/tessera (Apache-2.0), with a checkpoint for each size. Its key is in the script that makes the log.
    @Test(.enabled(if: Sample.data != nil)) func `the tiles and checkpoints of Tessera lead to the same roots`() throws {
        let folder = try #require(Sample.data).appending(path: "tessera/testdata/log")
        let key = try NoteKey(parsing: "example.com/log/testdata+33d7b496+AeHTu4Q3hEIMHNqc6fASMsq3rKNx280NI+oO5xCFkkSx")
        var builder = TileBuilder()
        for size in UInt64(0)...15 {
            let text = String(decoding: try Data(contentsOf: folder.appending(path: "checkpoint.\(size)")), as: UTF8.self)
            let head = try Trust.key(key).head(ofCheckpoint: text)
            var tree = TileTree(size: size) { Array(try Data(contentsOf: folder.appending(path: $0.path))) }
            #expect(try head.size == size && head.root == tree.root())
            if size == 0 { continue }
            var entries = Array(try Data(contentsOf: folder.appending(path: Tile(.entries, index: 0, width: Int(size)).path)))[...]
            for _ in 1..<size { entries = entries.dropFirst(2 + Int(entries.first ?? 0) << 8 + Int(entries.dropFirst().first ?? 0)) }
            builder.append(.leaf(Array(entries.dropFirst(2)))) { tile, _ in Issue.record("\(tile) is full") }
            try builder.finish { (tile: Tile, bytes: [UInt8]) throws(any Error) in
                #expect(try bytes == Array(Data(contentsOf: folder.appending(path: tile.path))))
            }
        }
    }

    /// The proofs of transparency-dev/merkle (Apache-2.0), with those of subtrees.
    @Test(.enabled(if: Sample.data != nil)) func `the cases of transparency-dev are judged as they state`() throws {
        struct Case: Decodable {
            let leafIdx, treeSize, size1, size2, start, end, size: UInt64?
            let root, leafHash, root1, root2, subRoot, parentRoot, subtreeRoot: String?
            let proof: [String]?
            let wantErr: Bool
        }
        let folder = try #require(Sample.data).appending(path: "merkle/testdata")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var (count, refused) = (0, 0)
        for case let file as URL in files where file.pathExtension == "json" {
            let bytes = try Data(contentsOf: file)
            let (value, name) = (
                try JSONDecoder().decode(Case.self, from: bytes), file.pathComponents.dropFirst(folder.pathComponents.count)
            )
            func hash(_ text: String?) -> TreeHash? { text.flatMap { TreeHash(base64: $0.utf8) } }
            // Roots that do not matter are short texts in these cases. Two equal ones stay equal.
            func root(_ text: String?) -> TreeHash? { hash(text) ?? text.map { .leaf(Array($0.utf8)) } }
            let path = (value.proof ?? []).compactMap { hash($0) }
            var holds = path.count == value.proof?.count ?? 0
            let (start, end) = (value.start ?? 0, value.end ?? value.treeSize ?? value.size1 ?? 0)
            let isSubtree = start <= end && (start == end || start & ((end - start).nextPowerOf2 &- 1) == 0)
            switch name.first ?? "" {
            case "inclusion", "subtreeinclusion":
                let index = value.leafIdx ?? 0
                let proof = InclusionProof(index: index &- start, size: end &- start, path: path)
                let root = hash(value.leafHash).flatMap { proof.root(of: $0) }
                holds =
                    holds && isSubtree && index >= start && root != nil && root == hash(value.root ?? value.subtreeRoot ?? value.subRoot)
            default:
                let (part, root) = (
                    root(value.root1 ?? value.subRoot ?? value.subtreeRoot), root(value.root2 ?? value.parentRoot ?? value.root)
                )
                let size = value.size2 ?? value.size ?? value.treeSize ?? 0
                // The cases refuse a proof from the empty tree; C2SP tlog-witness accepts an empty one.
                guard holds, let part, let root, isSubtree, end <= size, value.size1 != 0 else {
                    holds = false
                    break
                }
                holds =
                    start == end
                    ? path.isEmpty && part == .ofEmptyTree
                    : start == 0
                        ? ConsistencyProof(oldSize: end, size: size, path: path).holds(from: part, to: root)
                        : MerkleProof.holds(path, start..<end, part, in: size, root)
            }
            count += 1
            refused += holds ? 0 : 1
            #expect(holds == !value.wantErr, "\(name.joined(separator: "/"))")
        }
        #expect(count == 518 && refused == 482)
    }
}

extension UInt64 {
    fileprivate var nextPowerOf2: UInt64 { self <= 1 ? 1 : 1 << UInt64(64 - (self - 1).leadingZeroBitCount) }
}

import CambiumBytes
import CambiumModel
import CambiumProofs
import Testing

@testable import CambiumLog

@Suite struct TreeTests {
    /// The leaves in the test data that Certificate Transparency publishes for RFC 6962.
    private static let leaves = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
    private static let roots = [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ]

    @Test func `the roots of a tree are the roots of RFC 6962`() throws {
        var tree = MerkleTree()
        #expect(HexText.encode(tree.root.bytes) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        for (leaf, root) in zip(Self.leaves, Self.roots) {
            tree.append(leafHash: .leaf(try #require(HexText.decode(leaf))))
            #expect(HexText.encode(tree.root.bytes) == root)
        }
    }

    @Test func `a redacted payload keeps its leaf hash`() throws {
        let payload: [UInt8] = [1, 2, 3]
        let salt = [UInt8](repeating: 7, count: 16)
        let metadata = TransactionMetadata(time: Timestamp(microsecondsSince1970: 5), actor: "jane", message: nil, requestID: "r")
        func record(_ payload: Payload) -> LogRecord {
            LogRecord(
                number: TransactionNumber(rawValue: 3), metadata: metadata, payload: payload, ownSalt: salt,
                source: LogSource(file: "", saltSeed: []), frameOffset: 0, byteCount: 0)
        }
        let commitment = try record(.present(payload[...])).commitment()
        #expect(try record(.present(payload[...])).leafHash() == record(.redacted(commitment: commitment)).leafHash())
        #expect(try record(.present([1, 2, 4])).leafHash() != record(.redacted(commitment: commitment)).leafHash())
        #expect(throws: CambiumError.self) { try record(.redacted(commitment: commitment)).ops() }
    }

    @Test func `the leaf hash covers every field of an envelope`() {
        func leaf(_ number: UInt64, _ metadata: TransactionMetadata) -> TreeHash {
            Leaf.hash(TransactionNumber(rawValue: number), metadata) { $0.add([UInt8](repeating: 1, count: 32)[...]) }
        }
        let (time, digest) = (Timestamp(microsecondsSince1970: 1), RequestDigest([UInt8](repeating: 0, count: 16)))
        let texts: [TransactionMetadata] = [
            .init(time: time), .init(time: time + .microseconds(1)), .init(time: time, actor: "a"), .init(time: time, message: "a"),
            .init(time: time, requestID: "a"), .init(time: time, actor: ""), .init(time: time, actor: "a", message: ""),
            .init(time: time, actor: "", message: "a"), .init(time: time, requestID: "a", requestDigest: digest),
            .init(time: time, requestID: "a", clockLag: .microseconds(1)),
            .init(time: time, requestID: "a", requestDigest: digest, clockLag: .microseconds(1)),
        ]
        let leaves = texts.map { leaf(1, $0) } + [leaf(2, texts[0])]
        #expect(Set(leaves).count == leaves.count)
    }
}

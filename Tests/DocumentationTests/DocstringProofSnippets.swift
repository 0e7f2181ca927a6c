import Cambium

/// The examples of the docstrings about notes and proofs, word for word. The code is compiled only.
enum DocstringProofSnippets {
    static func hash() -> TreeHash? {
        let empty = TreeHash(hex: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        return empty
    }

    static func include() {
        let proof = InclusionProof(index: 0, size: 1, path: [])
        print(proof.root(of: .leaf([1, 2, 3])) == .leaf([1, 2, 3]))
    }

    static func grow() {
        let proof = ConsistencyProof(oldSize: 1, size: 1, path: [])
        print(proof.holds(from: .leaf([]), to: .leaf([])))
    }

    static func kinds() {
        print(NoteKeyKind.log.rawValue, NoteKeyKind.witness.rawValue)  // 1 4
    }

    static func key() throws -> NoteKey {
        let key = try NoteKey(parsing: "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k")
        return key
    }

    static func makeKey() throws {
        let secret = (0..<32).map { _ in UInt8.random(in: 0...255) }
        let key = try SigningKey(name: "example.com/notes", kind: .log, secret: secret)
        print(key.verifier)
    }

    static func sign() throws {
        let secret = (0..<32).map { _ in UInt8.random(in: 0...255) }
        let key = try SigningKey(name: "example.com/notes", kind: .log, secret: secret)
        print(try Store.sign(at: "notes", with: [key]))
    }

    static func signatures(_ key: SigningKey) throws {
        for signature in try Store.sign(at: "notes", with: [key]).signatures { print(signature.name, signature.keyID) }
    }

    static func verify() throws {
        let key = try NoteKey(parsing: "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k")
        let line = "— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n"
        let note = try SignedNote(parsing: Array("This is an example message.\n\n\(line)".utf8))
        try note.verify(with: [key])
    }

    static func head() throws {
        let head = try TreeHead(parsing: "example.com/notes\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n")
        print(head.origin, head.size, head.root)
    }

    static func proofFile() throws {
        let head = try TreeHead(origin: "example.com/notes", size: 1, root: .leaf([1]))
        let file = ProofFile(index: 0, path: [], checkpoint: head.text)
        print(try ProofFile(parsing: Array(file.description.utf8)).index)
    }

    static func consistencyFile() throws {
        let head = try TreeHead(origin: "example.com/notes", size: 1, root: .leaf([1]))
        let file = ConsistencyFile(oldSize: 0, path: [], checkpoint: head.text)
        print(try ConsistencyFile(parsing: Array(file.description.utf8)).oldSize)
    }

    static func trust(_ note: SignedNote) throws {
        let trust = Trust.key(try NoteKey(parsing: "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"))
        print(try trust.head(ofCheckpoint: note.description).size)
    }

    static func policy() throws -> TrustPolicy {
        let policy = try TrustPolicy(
            parsing: Array("log example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k\nquorum none\n".utf8))
        return policy
    }

    static func prove() throws {
        let proof = try Store.prove(TransactionNumber(rawValue: 1), at: "notes")
        print(try ProvedTransaction(proof, trusting: .root(try TreeHead(parsing: proof.checkpoint).root)).number)
    }

    static func proved() throws {
        let proof = try Store.prove(TransactionNumber(rawValue: 1), at: "notes")
        let proved = try ProvedTransaction(proof, trusting: .root(try TreeHead(parsing: proof.checkpoint).root))
        print(proved.number, proved.time, proved.author.actor ?? "-")
    }

    static func provedValue(_ note: ObjectID) throws {
        let proof = try Store.prove("title", of: note, at: "notes")
        let proved = try ProvedValue(proof, trusting: .root(try TreeHead(parsing: proof.checkpoint).root))
        print(proved.object, proved.property, proved.value.text, proved.transaction.number)
    }

    static func proveValue(_ note: ObjectID) throws {
        let proof = try Store.prove("title", of: note, at: "notes")
        print(try ProvedValue(proof, trusting: .root(try TreeHead(parsing: proof.checkpoint).root)).value.text)
    }

    static func proveConsistency() throws {
        print(try Store.proveConsistency(since: 1, at: "notes").oldSize)
    }

    static func tiles() throws {
        print(try Store.writeTiles(of: "notes", to: "public").fileCount)
    }

    static func witness() throws -> Witness {
        let witness = Witness(try Store.open(at: "witness", creating: try Witness.schema))
        return witness
    }
}

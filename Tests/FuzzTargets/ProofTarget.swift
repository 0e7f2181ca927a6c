import Cambium
import CambiumLog
import CambiumModel

/// The fuzz target for the files with which others check a log: signed notes, proofs, requests to witnesses, policies and public keys. An
/// accepted file is written back with the same bytes. A proof that holds states what the sample log states.
///
/// The first byte of an input, modulo 5, chooses the kind of the file. 0 is a note, and 1 is a proof of a transaction or a value. 2 is a
/// proof of consistency, which is the request to a witness. 3 is a policy, and 4 is a public key.
enum ProofTarget {
    /// A signed log, and one file of each kind.
    private struct Sample {
        let verifier: NoteKey
        let note: SignedNote
        let head: TreeHead
        let oldRoot: TreeHash
        let transaction, value: ProofFile
        let request: ConsistencyFile

        var policy: String { "log \(verifier) https://example.com/\nquorum none\n" }

        init() throws {
            let key = try SigningKey(name: "example.com/log", kind: .log, secret: Array(repeating: 1, count: 32))
            let volume = MemoryVolume(contents: try SampleStore().files)
            (verifier, note) = (key.verifier, try Store.sign(volume, with: [key]))
            head = try TreeHead(note)
            transaction = try Store.prove(TransactionNumber(rawValue: 2), volume, in: note)
            guard let thing = try ReadOnlyStore(volume).graph.find("Thing", identity: [2]) else { throw Finding("no object 2") }
            value = try Store.prove("title", of: thing, volume, in: note)
            request = try Store.proveConsistency(since: 1, volume, in: note)
            let start = MemoryVolume()
            try SampleStore.create(on: start).close()
            oldRoot = try TreeHead(Store.sign(start, with: [key])).root
            guard try request.check(from: oldRoot, trusting: .key(verifier)).size == head.size else { throw Finding("no proof of growth") }
        }
    }

    private static let sample = Result { try Sample() }

    @Sendable static func seeds() throws -> [[UInt8]] {
        let sample = try sample.get()
        return [
            [0] + Array(sample.note.description.utf8), [1] + Array(sample.transaction.description.utf8),
            [1] + Array(sample.value.description.utf8), [2] + Array(sample.request.description.utf8), [3] + Array(sample.policy.utf8),
            [4] + Array(sample.verifier.description.utf8),
        ]
    }

    @Sendable static func run(_ input: [UInt8]) throws {
        guard let kind = input.first else { return }
        let (bytes, sample) = (Array(input.dropFirst()), try sample.get())
        do {
            switch kind % 5 {
            case 0: try note(bytes, sample)
            case 1: try proof(bytes, sample)
            case 2: try consistency(bytes, sample)
            case 3: try policy(bytes, sample)
            default: try key(bytes)
            }
        } catch let error as CambiumError {
            guard error.code == .invalidInput || error.code == .notProved else { throw error }
            return  // Refused.
        }
    }

    private static func note(_ bytes: [UInt8], _ sample: Sample) throws {
        let note = try SignedNote(parsing: bytes)
        try unchanged(note.description, bytes)
        try note.verify(with: [sample.verifier])
        guard note.text == sample.note.text else { throw Finding("a forged note is accepted") }
    }

    private static func proof(_ bytes: [UInt8], _ sample: Sample) throws {
        let proof = try ProofFile(parsing: bytes)
        try unchanged(proof.description, bytes)
        let transaction: ProvedTransaction
        if try ProvedValue.isStated(in: proof) {
            let proved = try ProvedValue(proof, trusting: .key(sample.verifier))
            transaction = proved.transaction
            // The piece of the value has neighbors, which a changed proof may open.
            if proved.object == "Thing/2", proved.property == "title", proved.value != "0123456789abcdef0123" {
                throw Finding("a forged value is proved")
            }
        } else {
            transaction = try ProvedTransaction(proof, trusting: .key(sample.verifier))
        }
        guard transaction.number.rawValue == 2, transaction.author.message == "rows" else {
            throw Finding("a forged transaction is proved")
        }
    }

    private static func consistency(_ bytes: [UInt8], _ sample: Sample) throws {
        let request = try ConsistencyFile(parsing: bytes)
        try unchanged(request.description, bytes)
        let head = try request.check(from: sample.oldRoot, trusting: .key(sample.verifier))
        guard head.root == sample.head.root, request.oldSize == 1 else { throw Finding("a forged proof of growth is accepted") }
    }

    private static func policy(_ bytes: [UInt8], _ sample: Sample) throws {
        try TrustPolicy(parsing: bytes).check(sample.note)
        guard String(decoding: bytes, as: UTF8.self).contains(sample.verifier.description) else {
            throw Finding("a policy accepts a note of a log that it does not name")
        }
    }

    private static func key(_ bytes: [UInt8]) throws {
        guard let text = String(validating: bytes, as: UTF8.self) else { return }
        try unchanged(NoteKey(parsing: text).description, bytes)
    }

    private static func unchanged(_ text: String, _ bytes: [UInt8]) throws(Finding) {
        guard Array(text.utf8) == bytes else { throw Finding("a file is not written back unchanged") }
    }
}

import ArgumentParser
import Cambium
import CambiumJSON

struct CheckProofCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-proof", abstract: "Check a proof, without the store.",
        discussion: Discussion.text(
            "The exit code is 0 if the proof holds, and 1 if it does not, or if its tree is not the trusted one. It is 65 if the file is "
                + "not a proof.",
            examples: "cambium check-proof 17.tlog-proof --policy policy", "cambium check-proof growth --since old.note --policy policy"))

    @Argument(help: "The proof; - for standard input.", completion: .file()) var file: String
    @Option(
        help: .init("For a proof of consistency: the earlier checkpoint, or its root.", valueName: "note"), completion: .file())
    var since: String?
    @OptionGroup(title: "Trust") var trust: TrustOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if trust.count == 0 { throw ValidationError("Give --root, --key or --policy: a proof leads to a tree that you trust.") }
    }

    func run() throws {
        let bytes = try Terminal.contents(of: file, byteCountMax: ProofFile.byteCountMax)
        guard let trust = try trust.trust() else { return }
        do {
            if bytes.starts(with: "old ".utf8) {
                try checkConsistency(bytes, trust)
            } else {
                if since != nil {
                    throw CambiumError(.unknownName, "--since is for a proof of consistency, and this is another proof. Omit it.")
                }
                let proof = try ProofFile(parsing: bytes)
                if try ProvedValue.isStated(in: proof) {
                    print(try ProvedValue(proof, trusting: trust))
                } else {
                    print(try ProvedTransaction(proof, trusting: trust))
                }
            }
        } catch let error as CambiumError where error.code == .notProved {
            if output.json {
                Terminal.printObject { writer in
                    writer.member("ok", false)
                    writer.member("reason", error.message)
                }
            } else {
                Terminal.print("NOT PROVED: \(error.message)")
            }
            throw ExitCode(Failure.badNews)
        }
    }

    private func print(_ proved: ProvedTransaction) {
        if output.json {
            return print("included", proved.head) { write(proved, to: &$0) }
        }
        Terminal.print("Included: transaction \(proved.number) of \(proved.time)\(notes(proved))")
        Terminal.print("in the log \(proved.head.origin) of \(proved.head.size) transactions with the root \(proved.head.root)")
    }

    private func print(_ proved: ProvedValue) {
        let transaction = proved.transaction
        if output.json {
            return print("set", transaction.head) { writer in
                writer.member("object", proved.object)
                writer.member("property", proved.property)
                writer.member("value", proved.value)
                writer.member("schema", proved.schema.rawValue)
                write(transaction, to: &writer)
            }
        }
        Terminal.print("Set: \(proved.object) \(proved.property) = \(proved.value.text), by")
        Terminal.print("transaction \(transaction.number) of \(transaction.time)\(notes(transaction))")
        Terminal.print(
            "in the log \(transaction.head.origin) of \(transaction.head.size) transactions with the root \(transaction.head.root)")
        Terminal.print("A later transaction may have changed the value. The names are those of the schema of transaction \(proved.schema).")
    }

    private func write(_ proved: ProvedTransaction, to writer: inout JSONWriter) {
        writer.member("transaction", proved.number)
        writer.member("time", proved.time.description)
        writer.member("actor", proved.author.actor)
        writer.member("message", proved.author.message)
        writer.member("request", proved.author.requestID)
    }

    private func notes(_ proved: ProvedTransaction) -> String {
        let author = [proved.author.actor, proved.author.message].compactMap(\.self).joined(separator: ": ")
        return author.isEmpty ? "" : ", \(author)"
    }

    private func checkConsistency(_ bytes: [UInt8], _ trust: Trust) throws {
        let proof = try ConsistencyFile(parsing: bytes)
        guard let since else {
            throw CambiumError(.unknownName, "The proof begins with an earlier tree. Give its checkpoint, or its root, with --since.")
        }
        var root = TreeHash(hex: since)
        if root == nil {
            let text = String(decoding: try Terminal.contents(of: since, byteCountMax: SignedNote.byteCountMax), as: UTF8.self)
            let (old, new) = (try Self.head(text, trust), try TreeHead(checkpoint: proof.checkpoint))
            guard old.size == proof.oldSize, old.origin == new.origin else {
                throw CambiumError(.notProved, "The proof is for \(proof.oldSize) transactions of \(new.origin), not for this checkpoint.")
            }
            root = old.root
        }
        guard let root else { return }
        let head = try proof.check(from: root, trusting: trust)
        if output.json { return print("consistent", head) { $0.member("oldSize", proof.oldSize) } }
        Terminal.print("Consistent: the log \(head.origin) of \(head.size) transactions continues the one of \(proof.oldSize)")
    }

    /// Returns the head of an earlier checkpoint. A known root says nothing about it: it is the root of the newer tree.
    private static func head(_ text: String, _ trust: Trust) throws -> TreeHead {
        if case .root = trust { return try TreeHead(checkpoint: text) }
        return try trust.head(ofCheckpoint: text)
    }

    private func print(_ claim: String, _ head: TreeHead, _ members: (inout JSONWriter) -> Void) {
        Terminal.printObject { writer in
            writer.member("ok", true)
            writer.member("claim", claim)
            members(&writer)
            head.write(to: &writer)
        }
    }
}

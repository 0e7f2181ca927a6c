import ArgumentParser
import Cambium
import CambiumJSON

struct ProveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prove", abstract: "Prove to others that a transaction is in the log, that it set a value, or that the log only grew.",
        discussion: Discussion.text(
            "A proof is a file that 'cambium check-proof' and Docs/Formats/verify.py check without the store. It leads to the root of the "
                + "newest tree, or to that of a signed note.",
            examples: "cambium prove notes 17 --to 17.tlog-proof", "cambium prove notes 17 --key notes.key --to 17.tlog-proof",
            "cambium prove notes 17 --note cosigned.note", "cambium prove notes Note/1 title --at yesterday",
            "cambium prove notes --consistency 12 --key notes.key"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @Argument(help: "The number of a transaction, or the object whose value is proved.") var subject: String?
    @Argument(help: "The attribute whose value is proved.") var attribute: String?
    @OptionGroup(title: "Moment") var point: PointOptions
    @Option(
        help: .init("Prove that the log continues the log of this many transactions, for a witness or an auditor.", valueName: "size"))
    var consistency: UInt64?
    @Option(
        help: .init("Sign the newest tree with the key in this file, and prove it with the note.", valueName: "file"), completion: .file())
    var key: String?
    @Option(
        help: .init("Use the tree of this note, which 'sign' made and witnesses may have cosigned.", valueName: "file"),
        completion: .file())
    var note: String?
    @Option(help: .init("Write the proof to this file.", valueName: "file"), completion: .file()) var to: String?
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if (subject == nil) == (consistency == nil) {
            throw ValidationError(
                "Name a transaction, or an object and an attribute, or give --consistency with the size of an earlier tree.")
        }
        if let subject, attribute == nil, UInt64(subject) == nil {
            throw ValidationError("'\(subject)' is not the number of a transaction. To prove a value, name an attribute, too.")
        }
        if point.at != nil, attribute == nil { throw ValidationError("--at belongs to a value. Name an object and an attribute.") }
        if let key { try KeyFile.checkDiffers(key, from: to) }
        if key != nil, note != nil { throw ValidationError("--key makes a new note, so it excludes --note. Give one of them.") }
    }

    func run() throws {
        var signed = try note.map { try SignedNote(parsing: Terminal.contents(of: $0, byteCountMax: SignedNote.byteCountMax)) }
        if let key { signed = try KeyFile.sign(store, with: key) }
        if let consistency {
            let proof = try Store.proveConsistency(since: consistency, at: store, in: signed)
            return try write(proof.description, "consistent", proof.checkpoint) { $0.member("oldSize", consistency) }
        }
        guard let subject else { return }
        if let attribute { return try prove(attribute, of: subject, signed) }
        guard let transaction = UInt64(subject) else { return }
        let proof = try Store.prove(TransactionNumber(rawValue: transaction), at: store, in: signed)
        try write(proof.description, "included", proof.checkpoint) { $0.member("transaction", transaction) }
    }

    private func prove(_ attribute: String, of subject: String, _ signed: SignedNote?) throws {
        let moment = point.at?.point() ?? .latest
        let graph = try ReadOnlyStore(at: store, point: moment).graph
        let object = try graph.object(subject)
        let proof = try Store.prove(attribute, of: object, at: store, point: moment, in: signed)
        try write(proof.description, "set", proof.checkpoint) {
            $0.member("transaction", proof.index + 1)
            $0.member("object", graph.text(of: object))
            $0.member("property", attribute)
        }
    }

    private func write(_ proof: String, _ claim: String, _ checkpoint: String, _ subject: (inout JSONWriter) -> Void) throws {
        if !output.json || to != nil { try OutputFile.write(proof, to: to) }
        let head = try TreeHead(checkpoint: checkpoint)
        if output.json {
            Terminal.printObject { writer in
                writer.member("claim", claim)
                subject(&writer)
                head.write(to: &writer)
                if to == nil { writer.member("proof", proof) }
            }
        } else if let to {
            Terminal.print("\(to): \(Readable.of(proof.utf8.count, "byte")), for the tree of \(head.size) with the root \(head.root)")
        }
    }
}

extension TreeHead {
    /// Writes the members of the tree to an open object.
    func write(to writer: inout JSONWriter) {
        writer.member("origin", origin)
        writer.member("size", size)
        writer.member("root", root.description)
    }
}

import ArgumentParser
import Cambium
import CambiumJSON

struct SignCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign", abstract: "Sign the size and the root of the log, so that a rewritten log is noticed.",
        discussion: Discussion.text(
            "The note is a C2SP checkpoint. Keep it elsewhere, or publish it. The store refuses to sign a log that does not continue "
                + "the log that it has signed before, and so does the key: FILE.signed beside it has the last tree of each store. "
                + "--rotate adds a new key: both sign until the line of the old one is removed.",
            examples: "cambium sign --generate example.com/notes --key notes.key", "cambium sign notes --key notes.key --to notes.note",
            "cambium sign --rotate --key notes.key"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String?
    @Option(help: .init("The file with the secret key, which only its owner may read.", valueName: "file"), completion: .file())
    var key: String
    @Option(help: .init("Make a key of this name in a new file, and print its public key.", valueName: "name")) var generate: String?
    @Flag(help: "Add a new key to the file, and print its public key.") var rotate = false
    @Option(help: .init("Write the note to this file.", valueName: "file"), completion: .file()) var to: String?
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if [store != nil, generate != nil, rotate].count(where: { $0 }) != 1 {
            throw ValidationError("Name a store to sign it, or give --generate or --rotate to make a key.")
        }
        try KeyFile.checkDiffers(key, from: to)
    }

    func run() throws {
        if let key = try KeyFile.made(key, generate, rotates: rotate, .log) { return key.print(output) }
        guard let store else { return }
        let note = try KeyFile.sign(store, with: key)
        if to != nil || !output.json { try OutputFile.write(note.description, to: to) }
        let head = try TreeHead(note)
        if output.json {
            Terminal.printObject { writer in
                head.write(to: &writer)
                writer.member("note", note.description)
            }
        } else if let to {
            Terminal.print("\(to): the log \(head.origin) of \(head.size) transactions with the root \(head.root)")
        }
    }
}

extension KeyFile {
    /// Makes the key that `--generate` or `--rotate` requests, and returns its public key; `nil` if none is requested.
    static func made(_ path: String, _ name: String?, rotates: Bool, _ kind: NoteKeyKind) throws -> NoteKey? {
        if let name { return try create(path, name: name, kind) }
        return rotates ? try rotate(path) : nil
    }
}

extension NoteKey {
    func print(_ output: OutputOptions) {
        guard output.json else { return Terminal.print(description) }
        Terminal.printObject { writer in
            writer.member("name", name)
            writer.member("key", description)
        }
    }
}

struct WitnessCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "witness", abstract: "Cosign the checkpoint of another's log, if it continues the last cosigned one.",
        discussion: Discussion.text(
            "The request is what 'prove --consistency SIZE --key FILE' prints, with the size that the witness has cosigned before, 0 at "
                + "first. The result is a line that is appended to the note. The memory of the witness is a store, which is created.",
            examples: "cambium witness --generate example.org/witness --key witness.key",
            "cambium witness memory request --key witness.key"))

    @Argument(help: "The directory of the store of the witness.", completion: .directory) var store: String?
    @Argument(help: "The request; - for standard input.", completion: .file()) var note: String?
    @Option(help: .init("The file with the secret key, which only its owner may read.", valueName: "file"), completion: .file())
    var key: String
    @Option(help: .init("Trust the log of this public key from now on: NAME+ID+KEY.", valueName: "key")) var log: String?
    @Option(help: .init("Make a key of this name in a new file, and print its public key.", valueName: "name")) var generate: String?
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if (generate == nil) == (note == nil) || generate != nil && (store != nil || log != nil) {
            throw ValidationError("Name the store of the witness and a request, or give only --generate to make a key.")
        }
    }

    func run() throws {
        if let key = try KeyFile.made(key, generate, rotates: false, .witness) { return key.print(output) }
        guard let store, let note else { return }
        let request = try ConsistencyFile(parsing: Terminal.contents(of: note, byteCountMax: SignedNote.byteCountMax))
        let keys = try KeyFile.read(key)
        let opened = log == nil ? try Store.open(at: store) : try Store.open(at: store, creating: Witness.schema)
        let cosigned = try opened.use { opened in
            let witness = Witness(opened)
            if let log { try witness.add(NoteKey(parsing: log)) }
            return try witness.cosign(request, with: keys)
        }
        let head = try TreeHead(cosigned)
        Terminal.report("The witness has cosigned the tree of \(head.size) transactions of \(head.origin), and remembers it.")
        guard output.json else { return Terminal.write(Array(cosigned.signatureText.utf8)) }
        Terminal.printObject { writer in
            head.write(to: &writer)
            writer.member("cosignature", cosigned.signatureText)
        }
    }
}

struct TilesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tiles", abstract: "Write the log as static files for a web server.",
        discussion: Discussion.text(
            "The files are those of C2SP tlog-tiles: entries without the changes of the transactions, hashes, and with --key or --note the "
                + "checkpoint. A later call writes only what is new.",
            examples: "cambium tiles notes --to public --key notes.key"))

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @Option(help: .init("Write the files to this folder.", valueName: "directory"), completion: .directory) var to: String
    @Option(help: .init("Sign the newest tree with the key in this file.", valueName: "file"), completion: .file()) var key: String?
    @Option(help: .init("Publish the tree of this note, with its signatures.", valueName: "file"), completion: .file()) var note: String?
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if key != nil, note != nil { throw ValidationError("--key makes a new note, so it excludes --note. Give one of them.") }
    }

    func run() throws {
        var signed = try note.map { try SignedNote(parsing: Terminal.contents(of: $0, byteCountMax: SignedNote.byteCountMax)) }
        if let key { signed = try KeyFile.sign(store, with: key) }
        let report = try Store.writeTiles(of: store, to: to, in: signed)
        Terminal.report("The files in '\(to)' were written for \(report.size) transactions.")
        guard output.json else {
            let files = Readable.of(report.fileCount, "file")
            let checkpoint = report.isSigned ? "" : ", without a checkpoint"
            return Terminal.print("\(to): \(files) written for \(report.size) transactions with the root \(report.root)\(checkpoint)")
        }
        Terminal.printObject { writer in
            writer.member("size", report.size)
            writer.member("root", report.root.description)
            writer.member("files", report.fileCount)
            writer.member("signed", report.isSigned)
        }
    }
}

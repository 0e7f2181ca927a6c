import Foundation
import Glibc
import Testing

/// Links, FIFOs, directories and sockets in place of the files of a store.
@Suite struct FileKindTests {
    private static let readers = [
        ["show", "store", "Note/1"], ["export", "store"], ["log", "store"], ["stats", "store"], ["verify", "store"],
    ]
    private static let writers = [
        ["insert", "store", "Note", "id=7"], ["checkpoint", "store"], ["compact", "store", "--retain", "since:2"],
        ["compact", "store", "--retain", "all", "--archive", "archive"],
    ]
    private static let files = ["store.json", "HEAD", "log/00000000000000000001.log"]

    /// Returns a workplace with a store of two transactions in `notes`, and with a foreign file.
    private func workplace(hasCheckpoint: Bool = true) throws -> Workplace {
        try Workplace.copy("\(hasCheckpoint)") {
            let place = try Workplace.withStore()
            #expect(try place.run("insert", "notes", "Note", "id=1").code == 0)
            if hasCheckpoint { #expect(try place.run("checkpoint", "notes").code == 0) }
            try place.write("123\n", to: "victim")
            return place
        }
    }

    private enum Kind: CaseIterable {
        case link, danglingLink, fifo, directory, socket

        func make(_ name: String, in place: Workplace) throws {
            switch self {
            case .link: try place.link(name, to: place.path("victim"))
            case .danglingLink: try place.link(name, to: place.path("nowhere"))
            case .fifo: #expect(mkfifo(place.path(name), 0o644) == 0)
            case .directory: try place.makeDirectory(name)
            case .socket: #expect(mknod(place.path(name), S_IFSOCK | 0o644, 0) == 0)
            }
        }
    }

    @Test func `a link or other node in place of the lock is named and never written to`() throws {
        let place = try workplace()
        for kind in Kind.allCases {
            try place.copy("notes", to: "store")
            try place.remove("store/LOCK")
            try kind.make("store/LOCK", in: place)
            let before = try place.tree("store")
            for command in Self.writers {
                let outcome = try place.runWithoutWaiting(command)
                #expect(outcome.code == 74 && outcome.errors.contains("LOCK"), "\(kind) \(command): \(outcome.code) \(outcome.errors)")
            }
            #expect(try place.tree("store") == before && place.bytes(of: "victim") == Data("123\n".utf8), "\(kind)")
            #expect(!FileManager.default.fileExists(atPath: place.path("nowhere")))
            try place.remove("store")
            try? place.remove("archive")  // The archive may be absent.
        }
    }

    @Test(arguments: files) func `no command waits for, or follows, a node in place of a file`(file: String) throws {
        let place = try workplace(hasCheckpoint: false)
        for kind in Kind.allCases {
            try place.copy("notes", to: "store")
            try place.remove("store/" + file)
            try kind.make("store/" + file, in: place)
            for command in Self.readers + Self.writers.prefix(2) {
                let outcome = try place.runWithoutWaiting(command)
                let expected: Int32 = command[0] == "verify" ? 1 : 74
                #expect(outcome.code == expected, "\(kind) \(command): \(outcome.code) \(outcome.errors)")
                #expect((outcome.output + outcome.errors).contains(file), "\(kind) \(command): \(outcome.errors)")
            }
            #expect(try place.bytes(of: "victim") == Data("123\n".utf8))
            try place.remove("store")
        }
    }

    @Test(arguments: [
        "log/x.new", "log/00000000000000000009.pending", "log/00000000000000000009.ops", "roots/00000000000000000009.root.new",
        "pages-0000000000000009",
    ])
    func `a directory in place of a file that a writer would remove is named with a remedy`(name: String) throws {
        let place = try workplace()
        #expect(try place.run("insert", "notes", "Note", "id=2").code == 0)
        try place.makeDirectory("notes/" + name)
        let outcome = try place.run("checkpoint", "notes")
        #expect(outcome.code == 74 && outcome.errors.contains("notes/\(name)'"), "\(outcome.code) \(outcome.errors)")
        #expect(outcome.errors.contains("Move it away"))
        try place.remove("notes/" + name)
        #expect(try place.run("checkpoint", "notes").code == 0)
    }

    @Test func `a log without segments is reported with its path and a remedy`() throws {
        for hasCheckpoint in [false, true] {
            let place = try workplace(hasCheckpoint: hasCheckpoint)
            let segments = try FileManager.default.contentsOfDirectory(atPath: place.path("notes/log")).filter { $0.hasSuffix(".log") }
            #expect(!segments.isEmpty)
            for segment in segments { try place.remove("notes/log/" + segment) }
            for command in [
                ["show", "notes", "Note/1"], ["log", "notes"], ["backup", "notes", "copy"], ["insert", "notes", "Note", "id=7"],
            ] {
                let outcome = try place.runWithoutWaiting(command)
                #expect(outcome.code == 74 && outcome.errors.contains("notes/log"), "\(command): \(outcome.code) \(outcome.errors)")
                #expect(outcome.errors.contains("has no segment") && outcome.errors.contains("'cambium repair'"), "\(outcome.errors)")
            }
        }
    }

    @Test(arguments: ["log", "roots"]) func `a link or a file in place of a directory of the store is not followed`(name: String) throws {
        let place = try workplace()
        try place.copy("notes/" + name, to: "elsewhere")
        for isLink in [true, false] {
            try place.copy("notes", to: "store")
            try place.remove("store/" + name)
            if isLink { try place.link("store/" + name, to: place.path("elsewhere")) } else { try place.write("", to: "store/" + name) }
            let before = try place.tree("elsewhere")
            // `log` needs no checkpoints.
            for command in Self.readers + Self.writers.prefix(1) where name == "log" || command[0] != "log" {
                let outcome = try place.runWithoutWaiting(command)
                #expect([1, 74].contains(outcome.code), "\(command): \(outcome.code) \(outcome.errors)")
                #expect((outcome.output + outcome.errors).contains("store/" + name), "\(command): \(outcome.output) \(outcome.errors)")
            }
            #expect(try place.tree("elsewhere") == before)
            try place.remove("store")
        }
    }

    @Test func `a link to a store is that store, and a file of pages that is a link is ignored`() throws {
        let place = try workplace()
        try place.link("other", to: "notes")
        #expect(try place.run("insert", "other", "Note", "id=2").code == 0)
        #expect(try place.run("find", "notes", "Note", "--count").output == "2\n")
        let pages = try #require(try place.tree("notes").keys.first { $0.hasPrefix("pages-") })
        try FileManager.default.moveItem(atPath: place.path("notes/" + pages), toPath: place.path("pages"))
        try place.link("notes/" + pages, to: place.path("pages"))
        let before = try place.bytes(of: "pages")
        #expect(try place.run("find", "notes", "Note", "--count").output == "2\n")
        #expect(try place.run("verify", "notes").output.contains(pages))
        #expect(try place.run("checkpoint", "notes").code == 0 && place.bytes(of: "pages") == before)
    }

    @Test func `a ring of links in place of a store is a missing store`() throws {
        let place = try workplace()
        try place.link("ring", to: place.path("ring"))
        for command in [["find", "ring", "Note"], ["verify", "ring"], ["set", "ring", "Note/1", "title=x"]] {
            let outcome = try place.runWithoutWaiting(command)
            #expect(outcome.code == 66 && outcome.errors.contains("There is no store at 'ring'"), "\(command): \(outcome.errors)")
        }
    }

    @Test func `rows can come from a FIFO, and a map replaces only regular files`() throws {
        let place = try workplace()
        #expect(mkfifo(place.path("rows"), 0o644) == 0)
        let script = "echo '{\"id\":5}{\"id\":6}' > rows & exec timeout 20 '\(Workplace.binary.path)' import notes Note rows"
        #expect(try place.run(executable: URL(filePath: "/bin/bash"), ["-c", script]).code == 0)
        #expect(try place.run("find", "notes", "Note", "--count").output == "3\n")
        for target in ["rows", "notes"] {
            let outcome = try place.runWithoutWaiting(["clone", "notes", "Note/1", "--set", "id=9", "--map", target])
            #expect(outcome.code == 73, "\(target): \(outcome.code) \(outcome.errors)")
        }
        try place.link("map", to: "victim")
        #expect(try place.run("clone", "notes", "Note/1", "--set", "id=9", "--map", "map").code == 0)
        #expect(try place.tree(".")["map"] == Data("victim".utf8) && place.bytes(of: "victim").contains("old".utf8))
    }

    @Test func `a proof replaces only regular files`() throws {
        let place = try workplace()
        #expect(mkfifo(place.path("pipe"), 0o644) == 0)
        for target in ["pipe", "notes"] {
            let outcome = try place.runWithoutWaiting(["prove", "notes", "1", "--to", target])
            #expect(outcome.code == 73 && outcome.errors.contains("--to"), "\(target): \(outcome.code) \(outcome.errors)")
        }
        try place.link("proof", to: "victim")
        #expect(try place.run("prove", "notes", "1", "--to", "proof").code == 0)
        #expect(try place.tree(".")["proof"] == Data("victim".utf8))
        #expect(try place.bytes(of: "victim") == Data(place.run("prove", "notes", "1").output.utf8))
    }

    @Test(arguments: [0, 50]) func `every command names a segment that lost its header`(byteCount: Int) throws {
        let place = try workplace()
        let name = "00000000000000000001.log"
        try place.bytes(of: "notes/log/" + name).prefix(byteCount).write(to: place.directory.appending(path: "notes/log/" + name))
        for command in [
            ["compact", "notes", "--retain", "since:2"], ["compact", "notes", "--retain", "since:2", "--archive", "archive"],
            ["log", "notes"], ["backup", "notes", "copy"], ["apply", "notes", "copy"],
        ] {
            let outcome = try place.runWithoutWaiting(command)
            #expect(outcome.code == 74 && outcome.errors.contains(name), "\(command): \(outcome.code) \(outcome.errors)")
        }
        #expect(try place.run("verify", "notes").code == 1)
    }
}

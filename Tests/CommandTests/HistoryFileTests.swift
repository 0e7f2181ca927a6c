import Foundation
import Glibc
import Testing

@testable import CambiumCommand

@Suite struct HistoryFileTests {
    @Test func `lines are kept in a file that only the user can read`() throws {
        let place = try Workplace()
        let directory = place.directory.path + "/state/cambium"
        let file = HistoryFile(directory: directory)
        #expect(file.lines().isEmpty)
        file.add("Note where title == \"ñ\"")
        file.add("forged\nline")
        file.add("Note count")
        #expect(HistoryFile(directory: directory).lines() == ["Note where title == \"ñ\"", "Note count"])
        let attributes = try FileManager.default.attributesOfItem(atPath: directory + "/history")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `a long file is shortened to the newest lines`() throws {
        let place = try Workplace()
        try place.write((0..<2500).map { "\($0)\n" }.joined(), to: "history")
        let file = HistoryFile(directory: place.directory.path)
        #expect(file.lines().count == HistoryFile.lineCountKept && file.lines().last == "2499")
        #expect(String(decoding: try place.bytes(of: "history"), as: UTF8.self).hasPrefix("1500\n"))
    }

    @Test func `a file that is too long to be read begins again`() throws {
        let place = try Workplace()
        try place.write(String(repeating: "x", count: 17 << 20), to: "history")
        let file = HistoryFile(directory: place.directory.path)
        #expect(file.lines().isEmpty)
        file.add("Note count")
        #expect(file.lines() == ["Note count"])
    }

    @Test func `a history that is not a regular file stays as it is`() throws {
        let place = try Workplace()
        let path = place.directory.path + "/history"
        #expect(mkfifo(path, 0o600) == 0 && chmod(path, 0o644) == 0)
        let reader = open(path, O_RDWR | O_NONBLOCK)
        defer { close(reader) }
        HistoryFile(directory: place.directory.path).add("Note count")
        var status = stat()
        let failure = fstat(reader, &status)
        #expect(failure == 0 && status.st_mode & 0o777 == 0o644)
        var byte: UInt8 = 0
        let count = read(reader, &byte, 1)
        #expect(count == -1)
    }

    @Test func `the directory follows from the environment`() {
        #expect(HistoryFile { _ in nil } == nil)
        #expect(HistoryFile { $0 == "HOME" ? "/home/a" : nil } == HistoryFile(directory: "/home/a/.local/state/cambium"))
        #expect(HistoryFile { $0 == "HOME" ? "/home/a" : "/var/x" } == HistoryFile(directory: "/var/x/cambium"))
        #expect(HistoryFile { $0 == "HOME" ? "/home/a" : "relative" } == HistoryFile(directory: "/home/a/.local/state/cambium"))
    }
}

import Foundation
import Testing

/// Calls that cannot throw and state a mistake of the caller. Each call runs in a process of its own and ends it.
@Suite struct TrapTests {
    /// Expects a call to end its process after a sentence on stderr.
    private func expect(_ sentence: String, of call: String, at location: SourceLocation = #_sourceLocation) throws {
        let (process, output) = try WriterProcess.start(["trap", call], printed: STDERR_FILENO)
        let text = String(decoding: try output.readToEnd() ?? Data(), as: UTF8.self)
        // A sanitizer ends the process in its own way.
        #expect(WriterProcess.status(of: process) != 0, sourceLocation: location)
        #expect(text.contains("cambium: \(sentence)"), "\(text)", sourceLocation: location)
    }

    @Test(arguments: ["memory", "reserveMemory"]) func `a call that cannot throw states why it ends the process`(call: String) throws {
        try expect("'\(call)' was called inside the closure of a write to the same store", of: call)
    }

    @Test func `a record that reads a property by a wrong index states why it ends the process`() throws {
        try expect(
            "The record of 'Note' reads or writes the property with index 1, which its recordSchema does not list.", of: "read")
    }

    @Test(arguments: ["id", "entity", "provenance", "table"])
    func `a read at a place of another graph states the mistake of the caller`(call: String) throws {
        try expect("The caller passed a place of another graph", of: call)
    }

    @Test func `a comparison of an edit with a graph of another store states the mistake of the caller`() throws {
        try expect("The caller passed a graph of another store", of: "conflicts")
    }
}

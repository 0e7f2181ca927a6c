import Foundation
import Testing

/// Calls that state a programming error and end their process. Each call runs in a process of its own.
@Suite struct TrapTests {
    private func check(_ call: String, _ sentence: String) throws {
        let (process, output) = try WriterProcess.start(["trap", call], printed: STDERR_FILENO)
        let text = String(decoding: try output.readToEnd() ?? Data(), as: UTF8.self)
        // A sanitizer ends the process in its own way.
        #expect(WriterProcess.status(of: process) != 0)
        #expect(text.contains("cambium: \(sentence)"), "\(text)")
    }

    @Test(arguments: ["memory", "reserveMemory"]) func `a call that cannot throw states why it ends the process`(call: String) throws {
        try check(call, "'\(call)' was called inside the closure of a write to the same store")
    }

    @Test func `a record that reads a property by a wrong index states why it ends the process`() throws {
        try check("read", "The record of 'Note' reads or writes the property with index 1, which its recordSchema does not list.")
    }
}

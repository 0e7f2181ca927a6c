import Foundation
import Testing

/// Calls that cannot throw and would deadlock. Each call runs in a process of its own and ends it.
@Suite struct TrapTests {
    @Test(arguments: ["memory", "reserveMemory"]) func `a call that cannot throw states why it ends the process`(call: String) throws {
        let (process, output) = try WriterProcess.start(["trap", call], printed: STDERR_FILENO)
        let text = String(decoding: try output.readToEnd() ?? Data(), as: UTF8.self)
        // A sanitizer ends the process in its own way.
        #expect(WriterProcess.status(of: process) != 0)
        #expect(text.contains("cambium: '\(call)' was called inside the closure of a write to the same store"), "\(text)")
    }
}

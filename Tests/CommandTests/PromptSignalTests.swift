import Foundation
import Testing

@testable import CambiumCommand

@Suite struct PromptSignalTests {
    /// Ends a prompt at a new terminal by a signal, and prints whether the prompt has changed the settings, and whether they are as before.
    private static let script = """
        import os, pty, signal, subprocess, sys, termios
        program, number = sys.argv[1], int(sys.argv[2])
        master, terminal = pty.openpty()
        before = termios.tcgetattr(terminal)
        environment = dict(os.environ, TERM='xterm', XDG_STATE_HOME='.')
        prompt = subprocess.Popen([program, 'query', 'notes'], stdin=terminal, stdout=terminal, stderr=terminal, env=environment)
        text = b''
        while b'cambium> ' not in text: text += os.read(master, 1000)
        is_raw = termios.tcgetattr(terminal) != before
        prompt.send_signal(number)
        print(prompt.wait() == -number, is_raw, termios.tcgetattr(terminal) == before)
        """

    @Test(arguments: [SIGTERM, SIGHUP, SIGINT])
    func `a signal that ends the prompt restores the terminal`(number: Int32) throws {
        let place = try Workplace.withStore()
        let arguments = ["python3", "-c", Self.script, Workplace.binary.path, "\(number)"]
        let outcome = try place.run(executable: URL(filePath: "/usr/bin/env"), arguments)
        #expect(outcome.output == "True True True\n", "\(outcome.errors)")
    }

    @Test func `an interruption cancels work, and later work is not cancelled`() throws {
        #expect(throws: CancellationError.self) {
            try Interruption.run {
                kill(getpid(), SIGINT)
                while !Task.isCancelled { sched_yield() }
                throw CancellationError()
            }
        }
        #expect(try Interruption.run { Task.isCancelled } == false)
    }
}

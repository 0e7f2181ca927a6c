import Cambium
import Synchronization
import Testing

@testable import CambiumCommand

@Suite struct ProgressTests {
    /// A clock that the test sets, and the lines that were written to the terminal.
    private final class Screen: Sendable {
        let time = Mutex(Duration.zero)
        let lines = Mutex<[String]>([])

        func progress(_ byteCount: Int?, sourceCount: Int = 1, width: Int? = nil) -> Progress {
            Progress(
                "import", sourceCount: sourceCount, byteCount: byteCount, elapsed: { self.time.withLock { $0 } },
                put: { line in self.lines.withLock { $0.append(line) } }, width: { width })
        }

        var ticker: Ticker {
            Ticker("verify", elapsed: { self.time.withLock { $0 } }, put: { line in self.lines.withLock { $0.append(line) } })
        }

        func wait(_ milliseconds: Int) { time.withLock { $0 += .milliseconds(milliseconds) } }
        var shown: [String] { lines.withLock { $0 } }
    }

    @Test func `nothing is shown within the first second, and nothing is removed then`() {
        let screen = Screen()
        let progress = screen.progress(100)
        screen.wait(999)
        progress.add(50)
        progress.end()
        #expect(screen.shown.isEmpty)
    }

    @Test func `a bar is shown ten times a second after the first second, and removed at the end`() {
        let screen = Screen()
        let progress = screen.progress(2048)
        screen.wait(1000)
        progress.add(1024)
        screen.wait(99)
        progress.add(1)
        screen.wait(1)
        progress.add(511)
        progress.end()
        #expect(
            screen.shown == [
                "\rimport  [##########..........]  50%  1.0 KiB of 2.0 KiB  1.0 s\u{1B}[K",
                "\rimport  [###############.....]  75%  1.5 KiB of 2.0 KiB  1.1 s\u{1B}[K", "\r\u{1B}[K",
            ])
    }

    @Test func `the line is cut to the width of the terminal`() {
        let screen = Screen()
        let progress = screen.progress(2048, width: 20)
        screen.wait(1000)
        progress.add(1024)
        #expect(screen.shown == ["\rimport  [##########\u{1B}[K"])
    }

    @Test func `the progress of a stream shows only the number of bytes that were read`() {
        let screen = Screen()
        let progress = screen.progress(nil)
        screen.wait(1500)
        progress.add(10)
        #expect(screen.shown == ["\rimport  10 bytes  1.5 s\u{1B}[K"])
    }

    @Test func `the time of a command is shown after the first second, and removed before other text`() {
        let screen = Screen()
        let ticker = screen.ticker
        screen.wait(999)
        #expect(ticker.tick() && screen.shown.isEmpty)
        ticker.hide()
        screen.wait(2101)
        #expect(ticker.tick())
        ticker.hide()
        ticker.hide()
        #expect(screen.shown == ["\rverify  3.1 s\u{1B}[K", "\r\u{1B}[K"])
    }

    @Test func `the time of a command is not shown again after its end`() {
        let screen = Screen()
        let ticker = screen.ticker
        screen.wait(1000)
        #expect(ticker.tick())
        ticker.end()
        ticker.hide()
        #expect(!ticker.tick() && screen.shown == ["\rverify  1.0 s\u{1B}[K", "\r\u{1B}[K"])
    }

    @Test func `a source that is read again counts once`() throws {
        let screen = Screen()
        let progress = screen.progress(200, sourceCount: 2)
        let source = progress.watch(.bytes([UInt8](repeating: 0, count: 100)), 1)
        screen.wait(2000)
        for _ in 0..<2 {
            var buffer = [UInt8](repeating: 0, count: 1000)
            let read = try source.open()
            _ = try buffer.withUnsafeMutableBytes { try read($0) }
            screen.wait(100)
        }
        #expect(screen.shown.count == 2 && screen.shown.allSatisfy { $0.contains(" 50%  100 bytes of 200 bytes ") })
    }
}

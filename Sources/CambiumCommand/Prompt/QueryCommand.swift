import ArgumentParser
import Cambium
import Synchronization

struct QueryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query", abstract: "Open a prompt that answers queries.",
        discussion: Discussion.text(
            "A line begins with an entity, followed by words such as where and sort, which mean the same as the options of find: "
                + "'Note where title contains \"x\" sort -created limit 5 select title'. "
                + "The line 'help' lists the other lines. New transactions of other processes are visible to the next line. If standard "
                + "input is not a terminal, its lines are run without a prompt, and the exit code is that of the first failure.",
            examples: "cambium query notes", "cambium query notes --at yesterday"))

    /// The maximum number of rows that a person sees if the query has no limit.
    private static let rowCountMax = 40

    @Argument(help: "The directory of the store.", completion: .directory) var store: String
    @OptionGroup(title: "Moment") var point: PointOptions

    func run() throws { try PromptTerminal.isUsable ? runPrompt() : runLines() }

    private func runPrompt() throws {
        // Each line is run in another thread, while this thread waits for signals.
        let session = Mutex(try PromptSession(store, at: point.at, rowCountMax: Self.rowCountMax) { Terminal.width })
        let signals = try SignalPipe()
        defer { signals.end() }
        let terminal = try PromptTerminal(HistoryFile.ofUser(), signals)
        Self.printSummary(session.withLock { $0.graph })
        while let line = terminal.next(
            session.withLock { $0.prompt }, complete: { PromptCompletion($0, session.withLock { $0.graph }.schema) })
        {
            do {
                let outcome = try signals.run { try session.withLock { try $0.run(line) } }
                if outcome == .quit { return }
            } catch is CancellationError {
                // The terminal has shown '^C' on the current line, so the message begins on the next line.
                Terminal.print("")
                Terminal.print("The line was cancelled.")
            } catch {
                let mistake = try PromptMistake(any: error)
                mistake.excerpt(of: line).forEach(Terminal.error)
                Terminal.error(mistake.error.headline)
            }
        }
    }

    private static func printSummary(_ graph: Graph) {
        let entityCount = graph.schema.entities.count
        let entities = "\(entityCount) \(entityCount == 1 ? "entity" : "entities")"
        Terminal.print("\(Readable.of(graph.objectCount, "object")) of \(entities). Try 'help'.")
    }

    private func runLines() throws {
        let session = try PromptSession(store, at: point.at, rowCountMax: nil) { nil }
        let input = try LineInput()
        var (number, failure): (Int, Int32?) = (0, nil)
        while let bytes = try input.next() {
            number += 1
            var line = ""
            do {
                line = try LineInput.text(of: bytes)
                if try session.run(line) == .quit { break }
            } catch {
                let mistake = try PromptMistake(any: error)
                Terminal.error("cambium: standard input:\(number): \(mistake.error.headline)")
                mistake.excerpt(of: line).forEach(Terminal.error)
                failure = failure ?? Failure.exitCode(mistake.error.code)
            }
        }
        if let failure { throw ExitCode(failure) }
    }
}

extension PromptMistake {
    /// Converts a `PromptMistake` or a `CambiumError`. Throws any other error unchanged.
    fileprivate init(any error: any Error) throws {
        if let mistake = error as? PromptMistake {
            self = mistake
        } else if let error = error as? CambiumError {
            self.init(error, at: nil)
        } else {
            throw error
        }
    }
}

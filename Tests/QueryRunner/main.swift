import Cambium
import CambiumJSON
import Foundation

// Answers queries for Tests/python/compare_queries.py: reads JSON requests from the standard input, one per line, and prints an answer for
// each, one per line. `Session` lists the requests.

do {
    var session = Session()
    while let line = readLine() {
        let answer: JSONValue
        do {
            answer = try session.answer(Request(JSONValue(parsing: line.utf8)))
        } catch {
            answer = .object([.init("error", .string("\(error)"))])
        }
        print(answer.text)
        fflush(nil)
    }
}

#if Macros
    import Foundation
    import Testing

    /// Compares the reports of the macros with Diagnostics.txt. To add a case, write a title and a source there, and run the tests with
    /// CAMBIUM_TEST=write. Read the difference before you commit it.
    struct DiagnosticsTests {
        private static let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Diagnostics.txt")

        private static func golden() throws -> (introduction: String, cases: [GoldenCase]) {
            GoldenCase.parse(try String(contentsOf: path, encoding: .utf8))
        }

        @Test func `each source of the golden file gets the reports that the file has`() throws {
            let (introduction, cases) = try Self.golden()
            if ProcessInfo.processInfo.environment["CAMBIUM_TEST"] == "write" {
                let text = introduction + "\n" + cases.map(\.expected).joined(separator: "\n")
                try text.write(to: Self.path, atomically: true, encoding: .utf8)
                return
            }
            for golden in cases { #expect(golden.text == golden.expected, "\(golden.title)") }
        }

        @Test func `each source of the golden file has a mistake`() throws {
            for golden in try Self.golden().cases { #expect(!MacroSource(golden.source).reports.isEmpty, "\(golden.title)") }
        }

        @Test func `each fix removes its mistake and adds no other one`() throws {
            for golden in try Self.golden().cases {
                let reports = MacroSource(golden.source).reports
                for report in reports {
                    for fix in report.fixes {
                        let kinds = MacroSource(fix.source).reports.map(\.kind)
                        #expect(kinds.count < reports.count, "\(golden.title): \(fix.title)")
                    }
                }
            }
        }

        @Test func `the golden file has more than 25 kinds of mistakes`() throws {
            let kinds = Set(try Self.golden().cases.flatMap { MacroSource($0.source).reports.map(\.kind) })
            #expect(kinds.count > 25)
        }

        @Test func `each message states a mistake and a remedy in two sentences`() throws {
            for report in try Self.golden().cases.flatMap({ MacroSource($0.source).reports }) {
                #expect(report.message.hasSuffix("."), "\(report.message)")
                #expect(report.message.contains(". "), "\(report.message)")
            }
        }

        @Test func `a struct with a mistake becomes an entity record whose initializer throws`() {
            let expansion = MacroSource("@Entity struct Note {\n    var tags: [String]\n}").expansion
            #expect(expansion.contains("extension Note: EntityRecord"))
            #expect(expansion.contains("throw CancellationError()"))
        }
    }
#endif

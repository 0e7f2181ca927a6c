import Cambium
import CambiumJSON
import TestFixtures
import Testing

@Suite struct ExportHookTests {
    private func exported(_ store: Store, _ hooks: ExportHooks, _ change: (inout ExportOptions) -> Void = { _ in }) throws -> String {
        var options = ExportOptions()
        change(&options)
        var bytes: [UInt8] = []
        try store.graph.export(try store.schema.required("Tag"), options, hooks: hooks) { bytes += $0 }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func tags() throws -> Store {
        let store = try Store.notes()
        try store.importing("Tag", #"[{"name":"red","color":"f00"},{"name":"blue"},{"name":"green","color":"0f0"}]"#)
        return store
    }

    @Test func `a hook changes rows and leaves some out`() throws {
        let hooks = ExportHooks { graph, id, row in
            guard row["color"] != .null, case .object(let members) = row else { return .leaveOut }
            row = .object(members + [.init("at", .string("\(graph.schema.entity(id.root)?.name ?? "")/\(id.serial)"))])
            return .write
        }
        let store = try tags()
        #expect(
            try exported(store, hooks)
                == #"{"_id":"Tag/1","name":"red","color":"f00","items":[],"at":"Tag/1"}"# + "\n"
                + #"{"_id":"Tag/3","name":"green","color":"0f0","items":[],"at":"Tag/3"}"# + "\n")
        let mapped = try exported(store, hooks) {
            ($0.format, $0.mapping) = (.array, ImportMapping(relationships: ["items": .init(.nothing)]))
        }
        #expect(mapped == #"[{"name":"green","color":"0f0","at":"Tag/3"},"# + "\n" + #"{"name":"red","color":"f00","at":"Tag/1"}]"# + "\n")
    }

    @Test func `an error of a hook ends the export, and CSV accepts no hooks`() throws {
        let store = try tags()
        let refusing = ExportHooks { _, _, _ in throw CambiumError(.invalidInput, "no") }
        #expect(code { _ = try exported(store, refusing) } == .invalidInput)
        #expect(code { _ = try exported(store, ExportHooks { _, _, _ in .write }) { $0.format = .csv } } == .invalidInput)
        #expect(code { _ = try exported(store, ExportHooks()) { ($0.format, $0.mapping) = (.csv, ImportMapping()) } } == .invalidInput)
    }

    @Test func `a hook that writes rows as they are changes nothing`() throws {
        let store = try tags()
        #expect(try exported(store, ExportHooks { _, _, _ in .write }) == exported(store, ExportHooks()))
    }
}

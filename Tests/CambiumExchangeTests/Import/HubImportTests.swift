import Cambium
import CambiumLog
import CambiumTesting
import Foundation
import TestFixtures
import Testing

/// Rows that are linked to objects with many members.
@Suite struct HubImportTests {
    private static let seeds = TestSettings.seeds("programs", usual: 1)

    @Test func `random rows linked to hubs result in the same graph after a replay`() throws {
        for seed in Self.seeds {
            var run = try HubRun(seed: seed)
            do { try run.run() } catch { Issue.record("seed \(seed): \(error)") }
        }
    }

    @Test(arguments: HubRun.relationships) func `a row adds few bytes to the log, however many members its hub has`(name: String) throws {
        let run = try HubRun(seed: 1)
        let report = try run.store.importing("Member", "{\"id\":1000,\"\(name)\":\(HubRun.value(name, hub: 0))}")
        #expect(report.counts.inserted == 1 && report.entities[HubRun.hubEntity(name)]?.updated == 1)
        #expect(report.logByteCount < 160)
        #expect(try run.replayedDigest() == run.store.graph.digest())
    }

    @Test(arguments: HubRun.relationships) func `a member that leaves the middle of a hub adds few bytes to the log`(name: String) throws {
        let run = try HubRun(seed: 1)
        let report = try run.store.importing("Member", "{\"id\":5,\"\(name)\":\(HubRun.value(name, hub: 1))}")
        #expect(report.counts.updated == 1 && report.entities[HubRun.hubEntity(name)]?.updated == 2)
        #expect(report.logByteCount < 160)
        #expect(try run.replayedDigest() == run.store.graph.digest())
    }

    @Test func `a member that a hook puts first in a hub adds few bytes to the log`() throws {
        let run = try HubRun(seed: 1)
        let hub = try #require(run.store.schema.id("Hub/1")?.0)
        let hooks = ImportHooks(finish: { transaction, id, _ in try transaction.link(hub, "ranks", id, at: 0) })
        let rows = [ImportSource.bytes(Array(#"{"id":1000}"#.utf8))]
        let report = try run.store.importRows(try run.store.schema.required("Member"), from: rows, hooks: hooks)
        #expect(report.logByteCount < 160)
        #expect(run.store.graph.members(try run.store.schema.required("Hub").requiredRelationship("ranks"), of: hub)?.first?.serial == 201)
        #expect(try run.replayedDigest() == run.store.graph.digest())
    }

    @Test func `a row that changes most members of a hub is compared as a whole`() throws {
        let run = try HubRun(seed: 1)
        let report = try run.store.importing("Hub", #"{"id":0,"children":[1],"steps":[2,1],"tags":[3],"list":[4,3],"ranks":[]}"#)
        #expect(report.counts.updated == 1 && report.entities["Member"]?.updated == 200)
        #expect(try run.replayedDigest() == run.store.graph.digest())
    }
}

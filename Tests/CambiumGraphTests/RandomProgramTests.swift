import CambiumGraph
import CambiumModel
import CambiumTesting
import Foundation
import Testing

@Suite struct RandomProgramTests {
    private static func seeds(_ usual: Int) -> Range<UInt64> { TestSettings.seeds("programs", usual: usual) }

    @Test func `random programs produce the same graph as the reference`() throws {
        for seed in Self.seeds(2) {
            var run = try ProgramRun(seed: seed)
            do { try run.run() } catch { Issue.record("seed \(seed): \(error)") }
        }
    }

    @Test func `random clones produce the same graph as a naive cloner`() throws {
        for seed in Self.seeds(1) {
            var run = try ProgramRun(seed: seed, scope: .clones)
            do { try run.run() } catch { Issue.record("seed \(seed): \(error)") }
        }
    }

    /// In this program, an insertion moves an object out of a shared group after the transaction has changed the object's members.
    @Test func `an insertion that moves objects keeps what the transaction recorded about them`() throws {
        var run = try ProgramRun(seed: 50_031, scope: .clones)
        try run.run()
    }

    @Test func `random migrations produce the same graph as a naive migration`() throws {
        for seed in Self.seeds(2) {
            var run = try ProgramRun(seed: seed, scope: .migrations)
            do { try run.run() } catch { Issue.record("seed \(seed): \(error)") }
        }
    }

    @Test func `derived ops lead to the same digest`() throws {
        for seed in Self.seeds(2) {
            var run = try DerivationRun(seed: seed)
            do { try run.run() } catch { Issue.record("seed \(seed): \(error)") }
        }
    }

    /// Limits that make each object with a member a hub. The order of a hub is derived op by op.
    private static let edgeByEdge: HubLimits = {
        var limits = HubLimits()
        (limits.memberCountMin, limits.memberRatio, limits.suffixRatio) = (1, 0, 0)
        return limits
    }()

    @Test(arguments: [0, 1, 16]) func `ops that are derived edge by edge lead to the same digest`(suffixRatio: Int) throws {
        var limits = Self.edgeByEdge
        limits.suffixRatio = suffixRatio
        for seed in Self.seeds(1) {
            var run = try DerivationRun(seed: seed, limits)
            do { try run.run() } catch { Issue.record("seed \(seed): \(error)") }
        }
    }

    @Test func `ops that are derived for lists of several blocks lead to the same digest`() throws {
        var limits = HubLimits()
        limits.blockMemberCountMax = 1
        for seed in Self.seeds(2) {
            var run = try DerivationRun(seed: seed, limits)
            do { try run.run() } catch { Issue.record("seed \(seed): \(error)") }
        }
    }

    @Test(arguments: [HubLimits(), edgeByEdge]) func `changes that cancel out derive no ops`(limits: HubLimits) throws {
        for seed in Self.seeds(10) {
            var run = try DerivationRun(seed: seed, limits)
            do { try run.runThereAndBack() } catch { Issue.record("seed \(seed): \(error)") }
        }
    }
}

import Cambium
import Testing

@testable import CambiumCommand

@Suite struct MomentTests {
    private static let now = Timestamp("2026-11-23T12:36:16.5Z") ?? .min

    /// Returns the time of a moment as text, or the point itself if it has no time.
    private func text(_ argument: String, _ part: Moment.DayPart, now: Timestamp = MomentTests.now) throws -> String {
        let point = try #require(Moment(argument: argument), "\(argument)").point(part, now: now)
        return if case .time(let time) = point { time.description } else { "\(point)" }
    }

    @Test(arguments: [
        ("2026-11-21", "2026-11-21T00:00:00Z", "2026-11-21T23:59:59.999999Z"),
        ("2024-02-29", "2024-02-29T00:00:00Z", "2024-02-29T23:59:59.999999Z"),
        ("0001-01-01", "0001-01-01T00:00:00Z", "0001-01-01T23:59:59.999999Z"),
        ("9999-12-31", "9999-12-31T00:00:00Z", "9999-12-31T23:59:59.999999Z"),
        ("today", "2026-11-23T00:00:00Z", "2026-11-23T23:59:59.999999Z"),
        ("yesterday", "2026-11-22T00:00:00Z", "2026-11-22T23:59:59.999999Z"),
    ])
    func `a day means its beginning or its last microsecond in UTC`(argument: String, start: String, end: String) throws {
        #expect(try text(argument, .start) == start)
        #expect(try text(argument, .end) == end)
    }

    @Test(arguments: [
        ("2026-11-23T00:00:00Z", "2026-11-22T23:59:59.999999Z"), ("2026-11-23T23:59:59.999999Z", "2026-11-22T23:59:59.999999Z"),
        ("2027-01-01T00:00:00Z", "2026-12-31T23:59:59.999999Z"), ("1970-01-01T00:00:00Z", "1969-12-31T23:59:59.999999Z"),
        ("1969-12-31T12:00:00Z", "1969-12-30T23:59:59.999999Z"),
    ])
    func `yesterday ends at the midnight before the clock's time`(now: String, end: String) throws {
        let now = try #require(Timestamp(now))
        #expect(try text("yesterday", .end, now: now) == end)
    }

    @Test(arguments: [
        ("2026-11-21T14:30", "2026-11-21T14:30:00Z"), ("2026-11-21 14:30", "2026-11-21T14:30:00Z"),
        ("2026-11-21t14:30:05", "2026-11-21T14:30:05Z"), ("2026-11-21T14:30:05.25", "2026-11-21T14:30:05.25Z"),
        ("2026-11-21T14:30Z", "2026-11-21T14:30:00Z"), ("2026-11-21T14:30+02:00", "2026-11-21T12:30:00Z"),
        ("2026-11-21T14:30:05.25-01:30", "2026-11-21T16:00:05.25Z"), ("2026-11-21T14:30:05z", "2026-11-21T14:30:05Z"),
        ("now", "2026-11-23T12:36:16.5Z"),
    ])
    func `a time is exact, and is in UTC unless it has an offset`(argument: String, time: String) throws {
        #expect(try text(argument, .start) == time && text(argument, .end) == time)
    }

    @Test(arguments: ["2026-11-21T14:30:05.0502299Z", "2026-11-21T14:30:05.05022999999999999999", "2026-11-21T16:30:05.050229001+02:00"])
    func `a time between two microseconds never becomes a time outside of its period`(argument: String) throws {
        #expect(try text(argument, .end) == "2026-11-21T14:30:05.050229Z")
        #expect(try text(argument, .start) == "2026-11-21T14:30:05.05023Z")
        #expect(try text("2026-11-21T14:30:05.050229000Z", .start) == "2026-11-21T14:30:05.050229Z")
    }

    @Test func `numbers and labels are moments without a time`() throws {
        #expect(Moment(argument: "17")?.point() == .transaction(TransactionNumber(rawValue: 17)))
        #expect(Moment(argument: "2026")?.point() == .transaction(TransactionNumber(rawValue: 2026)))
        #expect(Moment(argument: "18446744073709551616")?.point() == .transaction(TransactionNumber(rawValue: .max)))
        #expect(Moment(argument: "label:yesterday")?.point() == .label("yesterday"))
        #expect(Moment(argument: "label:\u{301}x")?.point() == .label("\u{301}x"))
    }

    @Test(arguments: [
        "", "label:", "tomorrow", "Yesterday", "-1", "2026-13-01", "2026-02-29", "2026-11-31", "2026-1-1", "26-11-21", "2026-11-21Z",
        "2026-11-21T", "2026-11-21T14", "2026-11-21T24:00", "2026-11-21T14:60", "2026-11-21T14:30:", "2026-11-21T14:30+2",
        "2026-11-21T14:30Z ", " 2026-11-21", "2026-11-21\n", "\u{662}\u{660}\u{662}\u{666}-11-21", "0000-01-01",
        "0001-01-01T00:00+00:01", "9999-12-31T23:59-00:01",
    ])
    func `other texts are not moments`(argument: String) {
        #expect(Moment(argument: argument) == nil)
    }

    @Test func `a compaction keeps all of the day that it names`() throws {
        let retention = try #require(RetentionArgument(argument: "since:yesterday")).retention(now: Self.now)
        #expect(retention == .since(.time(try #require(Timestamp("2026-11-22T00:00:00Z")))))
        #expect(RetentionArgument(argument: "since:tomorrow") == nil && RetentionArgument(argument: "snapshots:0") == nil)
        #expect(RetentionArgument(argument: "all")?.retention() == .all)
        #expect(RetentionArgument(argument: "snapshots:3")?.retention() == .checkpoints(3))
    }
}

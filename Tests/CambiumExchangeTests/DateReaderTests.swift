import CambiumJSON
import CambiumModel
import Foundation
import Testing

@testable import CambiumExchange

@Suite struct DateReaderTests {
    private func read(_ text: String, _ formats: [String], zone: String = "UTC", pivot: Int = 1950, isNumber: Bool = false) throws
        -> String?
    {
        let reader = try DateReader(formats.map { DateFormat($0) }, zone: zone, pivot: pivot)
        let seconds = Array(text.utf8).withUnsafeBytes { reader.seconds($0, isNumber: isNumber) }
        return seconds.map { Value.date(Date(timeIntervalSinceReferenceDate: $0)).text }
    }

    @Test(arguments: [
        ("00", 1950, "2000"), ("49", 1950, "2049"), ("50", 1950, "1950"), ("99", 1950, "1999"), ("29", 1930, "2029"), ("30", 1930, "1930"),
        ("00", 2000, "2000"), ("99", 2000, "2099"),
    ])
    func `a year of two digits is counted from the pivot`(digits: String, pivot: Int, year: String) throws {
        #expect(try read(digits, ["yy"], pivot: pivot) == "\(year)-01-01T00:00:00Z")
    }

    @Test(arguments: [
        ("+01:00", "2025-12-31T23:00:00Z"), ("-0830", "2026-01-01T08:30:00Z"), ("GMT+2", "2025-12-31T22:00:00Z"),
        ("EST", "2026-01-01T05:00:00Z"),
        ("utc", "2026-01-01T00:00:00Z"),
    ])
    func `texts without a zone are in the zone of the mapping`(zone: String, date: String) throws {
        #expect(try read("1.1.2026", ["d.M.yyyy"], zone: zone) == date)
        #expect(try read("1.1.2026 Z", ["d.M.yyyy Z"], zone: zone) == "2026-01-01T00:00:00Z")
        #expect(try read("2026-01-01", ["iso8601"], zone: zone) == date)
    }

    @Test(arguments: [
        ("31.2.2026", "d.M.yyyy"), ("1.13.2026", "d.M.yyyy"), ("1.1.26", "d.M.yyyy"), ("1.1.2026", "d.M.yy"), ("1.1.2026 ", "d.M.yyyy"),
        ("1.1.2026 13:00 PM", "d.M.yyyy h:mm a"), ("1.1.2026 24:00", "d.M.yyyy HH:mm"), ("Foo 2026", "MMM yyyy"), ("", "yyyy"),
        ("2026", "yyyyMM"),
        ("2026-01-01T00", "iso8601"), ("2026-02-29", "iso8601"), ("1e40", "secondsSince1970"), ("x", "secondsSince2001"),
        ("1.1.2026 +1:", "d.M.yyyy Z"),
        ("1.1.0", "d.M.y"),
    ])
    func `a text that does not fit its format or names no date is not read`(text: String, format: String) throws {
        #expect(try read(text, [format]) == nil)
    }

    @Test func `12 AM is midnight and 12 PM is noon`() throws {
        #expect(try read("2026 12 AM", ["yyyy h a"]) == "2026-01-01T00:00:00Z")
        #expect(try read("2026 12 pm", ["yyyy h a"]) == "2026-01-01T12:00:00Z")
        #expect(try read("2026 1 PM", ["yyyy H a"]) == "2026-01-01T13:00:00Z")
    }

    @Test func `the first format that reads a text decides`() throws {
        #expect(try read("01/02/2026", ["dd/MM/yyyy", "MM/dd/yyyy"]) == "2026-02-01T00:00:00Z")
        #expect(try read("01/31/2026", ["dd/MM/yyyy", "MM/dd/yyyy"]) == "2026-01-31T00:00:00Z")
        #expect(try read("20260131", ["yyyyMMdd"], isNumber: true) == nil)
        #expect(try read("20260131", ["yyyyMMdd", "secondsSince1970"], isNumber: true) == "1970-08-23T11:48:51Z")
    }

    @Test(arguments: [
        ("0", "secondsSince1970", "1970-01-01T00:00:00Z"), ("-0.5", "secondsSince1970", "1969-12-31T23:59:59.5Z"),
        ("1.7e9", "secondsSince1970", "2023-11-14T22:13:20Z"), ("1700000000123", "millisecondsSince1970", "2023-11-14T22:13:20.123Z"),
        ("1700000000.123456", "secondsSince1970", "2023-11-14T22:13:20.123456Z"),
        ("-1", "millisecondsSince1970", "1969-12-31T23:59:59.999Z"),
        ("721692800.123", "secondsSince2001", "2023-11-14T22:13:20.123Z"),
    ])
    func `numbers are read to the nearest date`(text: String, format: String, date: String) throws {
        #expect(try read(text, [format], isNumber: true) == date)
    }

    @Test func `a pattern may contain other scripts without quotes, and dates are written with them`() throws {
        let reader = try DateReader([DateFormat("yyyy年M月d日 HH:mm")], zone: "UTC", pivot: 1950)
        let text = "2026年1月31日 12:00"
        let seconds = try #require(Array(text.utf8).withUnsafeBytes { reader.seconds($0, isNumber: false) })
        #expect(reader.json(seconds) == .string(text))
    }
}

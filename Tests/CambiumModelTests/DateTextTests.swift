import CambiumTesting
import Foundation
import Testing

@testable import CambiumModel

@Suite struct `Dates as text` {
    static func seconds(_ text: String) -> Double? { Array(text.utf8).withUnsafeBytes { DateText.seconds($0) } }

    @Test(arguments: [
        (0.0, "2001-01-01T00:00:00Z"), (-1, "2000-12-31T23:59:59Z"), (0.5, "2001-01-01T00:00:00.5Z"), (-0.5, "2000-12-31T23:59:59.5Z"),
        (-0.25, "2000-12-31T23:59:59.75Z"),
        (-978_307_200, "1970-01-01T00:00:00Z"), (0.1, "2001-01-01T00:00:00.1Z"), (-0.1, "2000-12-31T23:59:59.9Z"),
        (-0.01, "2000-12-31T23:59:59.99Z"), (1e-5, "2001-01-01T00:00:00.00001Z"),
        (1.5e-7, "2001-01-01T00:00:00.00000015Z"), (-1e-6, "2000-12-31T23:59:59.999999Z"), (-63_113_904_000, "0001-01-01T00:00:00Z"),
        (252_423_993_599, "9999-12-31T23:59:59Z"),
        (-31_622_400, "2000-01-01T00:00:00Z"), (-26_524_800, "2000-02-29T00:00:00Z"), (789_123_456.789, "2026-01-03T08:57:36.789Z"),
        (699_999_999.999999, "2023-03-08T20:26:39.999999Z"),
    ])
    func `a date is written with the fewest digits and read back`(_ seconds: Double, _ text: String) {
        #expect(DateText.text(seconds) == text)
        #expect(Self.seconds(text) == seconds)
    }

    @Test func `random dates keep all bits when written and read`() {
        var random = SplitMix64(for: "dates")
        for round in 0..<20_000 {
            let seconds =
                switch round % 4 {
                case 0: Double.random(in: DateText.range, using: &random)
                case 1: Double.random(in: -1e9..<1e9, using: &random)
                case 2: Double.random(in: -10..<10, using: &random)
                default: (Double.random(in: DateText.range, using: &random) * 1000).rounded() / 1000
                }
            #expect(Self.seconds(DateText.text(seconds))?.bitPattern == seconds.bitPattern, "\(seconds)")
        }
    }

    @Test func `dates next to whole seconds and to 2001 are written and read exactly`() {
        for whole in [-63_113_903_999.0, -978_307_200, -86_400, -1, 0, 1, 86_400, 1e9, 252_423_993_599] {
            for seconds in [whole, whole.nextUp, whole.nextDown, whole.nextUp.nextUp] {
                #expect(Self.seconds(DateText.text(seconds))?.bitPattern == seconds.bitPattern, "\(seconds)")
            }
        }
        for exponent in 1...300 {
            let small = Double("1e-\(exponent)") ?? .nan
            #expect(Self.seconds(DateText.text(small)) == small)
            #expect(Self.seconds(DateText.text(-small)) == -small)
        }
    }

    @Test func `a date without its last digit is a different date`() {
        var random = SplitMix64(for: "digits of dates")
        for _ in 0..<2000 {
            let seconds = Double.random(in: -1e9..<1e9, using: &random)
            let text = DateText.text(seconds)
            let shorter = text.dropLast(2)
            guard text.contains("."), let last = text.dropLast().last?.wholeNumberValue, last > 0 else { continue }
            #expect(Self.seconds(shorter + "Z") != seconds, "\(text)")
        }
    }

    @Test func `the calendar has the same days as Foundation`() throws {
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        var random = SplitMix64(for: "days of the calendar")
        for _ in 0..<2000 {
            let day = Double(Int.random(in: -140_000...2_900_000, using: &random)) * 86_400
            let parts = calendar.dateComponents([.year, .month, .day], from: Date(timeIntervalSinceReferenceDate: day))
            let expected = [parts.year, parts.month, parts.day].map { $0 ?? 0 }
            #expect(DateText.text(day).prefix(10).split(separator: "-").map { Int($0) ?? 0 } == expected)
        }
    }

    @Test(arguments: [
        ("2000-02-29T00:00:00Z", "2000-02-29T00:00:00Z"), ("2024-02-29T12:00:00Z", "2024-02-29T12:00:00Z"),
        ("2026-01-31T12:00:00+00:00", "2026-01-31T12:00:00Z"),
        ("2026-01-31T12:00:00-00:00", "2026-01-31T12:00:00Z"), ("2026-01-01T00:30:00+01:00", "2025-12-31T23:30:00Z"),
        ("2025-12-31T23:30:00-05:45", "2026-01-01T05:15:00Z"),
        ("2026-01-31t12:00:00z", "2026-01-31T12:00:00Z"), ("2026-01-31 12:00:00Z", "2026-01-31T12:00:00Z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"),
        ("2026-01-31T12:00:00.000Z", "2026-01-31T12:00:00Z"), ("2026-01-31T12:00:00.5000+02:00", "2026-01-31T10:00:00.5Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("0001-01-01T00:00:00-01:00", "0001-01-01T01:00:00Z"), ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
        ("9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.99997Z"), ("9999-12-31T23:59:59.999999+00:00", "9999-12-31T23:59:59.99997Z"),
        ("1999-12-31T23:59:59.25+23:59", "1999-12-31T00:00:59.25Z"),
    ])
    func `every spelling of RFC 3339 is read`(_ text: String, _ written: String) throws {
        let value = try Value(text: text, type: .date)
        #expect(value.text == written)
        #expect(try Value(text: written, type: .date) == value)
    }

    @Test func `a day that a person writes means its beginning in UTC`() throws {
        #expect(try Value(written: "2024-02-29", type: .date) == Value(text: "2024-02-29T00:00:00Z", type: .date))
        #expect(try Value(written: "2026-01-31T12:00:00Z", type: .date) == Value(text: "2026-01-31T12:00:00Z", type: .date))
        #expect(try Value(written: "2026-01-31", type: .string) == .string("2026-01-31"))
        for text in ["2026-02-29", "2026-1-031", "20260131", "0000-01-01", "2026-01-31Z"] {
            #expect(throws: ConversionError.malformed(.date, text)) { try Value(written: text, type: .date) }
        }
    }

    @Test(arguments: [
        "", "2026", "2026-01-31", "2026-01-31T12:00:00", "2026-01-31T12:00Z", "2026-01-31T12:00:00.Z", "2026-01-31T12:00:00.5",
        "2026-01-31T12:00:00,5Z", "2026-01-31X12:00:00Z",
        "2026-00-31T12:00:00Z", "2026-13-01T12:00:00Z", "2026-01-00T12:00:00Z", "2026-01-32T12:00:00Z", "2026-04-31T12:00:00Z",
        "2026-02-29T12:00:00Z", "1900-02-29T12:00:00Z",
        "2100-02-29T12:00:00Z", "2026-01-31T24:00:00Z", "2026-01-31T12:60:00Z", "2026-01-31T12:00:61Z", "2026-01-31T12:00:00+24:00",
        "2026-01-31T12:00:00+01:60", "2026-01-31T12:00:00+0100",
        "2026-01-31T12:00:00+01", "2026-01-31T12:00:00ZZ", "2026-01-31T12:00:00Z ", " 2026-01-31T12:00:00Z", "2026-1-31T12:00:00Z",
        "02026-01-31T12:00:00Z", "-2026-01-31T12:00:00Z",
        "+026-01-31T12:00:00Z", "2026/01/31T12:00:00Z", "2026-01-31T12-00-00Z", "0000-01-01T00:00:00Z", "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01", "9999-12-31T23:59:60Z",
        "2026-01-31T12:00:00*00:00", "2026-01-31T12:00:00.5+1:00", "2026-01-31T1a:00:00Z", "\u{FF12}026-01-31T12:00:00Z",
    ])
    func `text that is not a date of the years 1 to 9999 is refused`(_ text: String) {
        #expect(throws: ConversionError.malformed(.date, text)) { try Value(text: text, type: .date) }
        #expect(Timestamp(text) == nil)
    }

    @Test(arguments: [
        ("2026-02-30", "a date with a day from 01 to 28"), ("2024-02-30T12:00:00Z", "a date with a day from 01 to 29"),
        ("2026-13-01", "a date with a month from 01 to 12"), ("0000-01-01", "a date with a year from 0001 to 9999"),
        ("2026-02-30 noon", "a date such as"), ("2026-1-031", "a date such as"), ("2026-+2-30", "a date such as"), ("", "a date such as"),
        ("9999-12-31T23:59:60Z", "a date such as"), ("2026-01-31é", "a date such as"),
    ])
    func `the message for a date that the calendar lacks states the range of the wrong part`(_ text: String, _ wanted: String) {
        let error = #expect(throws: ConversionError.malformed(.date, text)) { try Value(written: text, type: .date) }
        #expect(error?.message.hasPrefix("expected \(wanted)") == true, "\(error?.message ?? "")")
    }

    @Test func `a hundred thousand digits are read to the nearest date`() throws {
        let text = "2001-01-01T00:00:00.1" + String(repeating: "0", count: 100_000) + "1Z"
        #expect(Self.seconds(text) == 0.1)
        #expect(Self.seconds("2000-12-31T23:59:59.8" + String(repeating: "9", count: 100_000) + "Z") == -0.1)
    }

    @Test func `a date just before 2001 is not read as negative zero`() throws {
        let seconds = try #require(Self.seconds("2000-12-31T23:59:59." + String(repeating: "9", count: 400) + "Z"))
        #expect(seconds.bitPattern == 0)
    }

    @Test func `a changed date is refused or read as a date`() {
        var random = SplitMix64(for: "changed dates")
        for _ in 0..<20_000 {
            var text = Array("2024-02-29T23:59:59.123456+05:30".utf8)
            for _ in 0..<3 {
                text[Int.random(in: 0..<text.count, using: &random)] = Array("0123456789:-+.TZ ".utf8).randomElement(using: &random) ?? 0
            }
            text.removeLast(Int.random(in: 0...text.count, using: &random) / 4)
            guard let seconds = text.withUnsafeBytes({ DateText.seconds($0) }), DateText.range.contains(seconds) else { continue }
            #expect(Self.seconds(DateText.text(seconds)) == seconds)
        }
    }

    @Test(arguments: [
        "0001-01-01T00:00:00.000001Z", "1600-02-29T23:59:59.999999Z", "1969-12-31T23:59:59.000001Z", "2026-01-31T12:00:00.1Z",
        "2300-01-01T00:00:00.123457Z", "9999-12-31T23:59:59.999999Z",
    ])
    func `a moment is read from its text to the microsecond, however far it is from 2001`(text: String) {
        #expect(Timestamp(text)?.description == text)
    }

    @Test func `the date of a moment has the text of the moment`() {
        var random = SplitMix64(for: "dates of moments")
        for _ in 0..<1000 {
            let time = Timestamp(microsecondsSince1970: Int64.random(in: -2_000_000_000_000_000...4_000_000_000_000_000, using: &random))
            #expect(Value.date(time.date).text == time.description)
        }
        #expect(Timestamp.min.date < .distantPast && Timestamp.max.date > .distantFuture)
    }

    @Test func `a finer fraction of a moment is rounded to a microsecond`() {
        #expect(Timestamp("1970-01-01T01:00:00.0000014999+01:00") == Timestamp(microsecondsSince1970: 1))
        #expect(Timestamp("1970-01-01T00:00:00.0000015Z") == Timestamp(microsecondsSince1970: 2))
        #expect(Timestamp("1969-12-31T23:59:59.9999996Z") == Timestamp(microsecondsSince1970: 0))
        #expect(Timestamp("9999-12-31T23:59:59.9999994Z")?.description == "9999-12-31T23:59:59.999999Z")
        #expect(Timestamp("9999-12-31T23:59:59.9999995Z") == nil)
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59.999999Z"), (-1_000_000, "1969-12-31T23:59:59Z"),
        (Int64.max, "294247-01-10T04:00:54.775807Z"),
    ])
    func `every time in microseconds has a text`(microseconds: Int64, text: String) {
        #expect(Timestamp(microsecondsSince1970: microseconds).description == text)
        #expect(Timestamp.min.description == "-290308-12-21T19:59:05.224192Z")
    }
}

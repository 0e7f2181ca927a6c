import Testing

@testable import CambiumExchange

@Suite struct ByteChannelTests {
    /// Reads bytes until `count` were read, which must be in the channel.
    private func read(_ count: Int, from channel: ByteChannel) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let read = try bytes.withUnsafeMutableBytes { try channel.read(into: $0) }
        #expect(read == count)
        return bytes
    }

    @Test func `bytes that were read take no memory, even if the channel is never empty`() async throws {
        let channel = ByteChannel()
        let pieceByteCount = 2 * ByteChannel.byteCountMax
        let restByteCount = ByteChannel.byteCountMax / 2
        var unread = 0
        for round in UInt8(1)...12 {
            let writing = Task { await channel.write([UInt8](repeating: round, count: pieceByteCount)) }
            while channel.counts.unread < unread + pieceByteCount { await Task.yield() }
            let bytes = try read(unread + pieceByteCount - restByteCount, from: channel)
            #expect(bytes.first == (round == 1 ? 1 : round - 1) && bytes.last == round)
            unread = restByteCount
            #expect(await writing.value)
            #expect(channel.counts.held <= 2 * (unread + pieceByteCount))
        }
        channel.end(.success(()))
        #expect(try read(unread, from: channel).allSatisfy { $0 == 12 })
    }
}

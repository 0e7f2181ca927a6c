/// A value that one thread at a time looks at: the standard library's `Mutex`, with a lock of which a thread sanitizer sees every
/// step. That of the library takes a contended lock in code that is not instrumented, so that sound code is reported.
///
/// SENDABLE: the value is touched by who holds the lock only.
public struct Guarded<Value>: ~Copyable, @unchecked Sendable {
    // SAFETY: the address is made once, stays as long as the lock does, and is given to who holds the lock only.
    @usableFromInline let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)
    @usableFromInline let word = WaitWord(Self.free)

    @usableFromInline static var free: UInt32 { 0 }
    @usableFromInline static var taken: UInt32 { 1 }
    /// Taken, and somebody may sleep.
    @usableFromInline static var contended: UInt32 { 2 }

    @inlinable public init(_ initial: consuming sending Value) { value.initialize(to: initial) }

    @inlinable deinit {
        value.deinitialize(count: 1)
        value.deallocate()
    }

    /// Calls `body` with the value; who comes meanwhile waits. Not to be called within itself.
    @inlinable
    public borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        if !word.exchange(Self.free, by: Self.taken) { take() }
        defer { if !word.exchange(Self.taken, by: Self.free) { giveUp() } }
        return try body(&value.pointee)
    }

    @usableFromInline @inline(never)
    func take() {
        while !word.exchange(Self.free, by: Self.contended) {
            if word.value == Self.contended || word.exchange(Self.taken, by: Self.contended) { word.wait(while: Self.contended) }
        }
    }

    @usableFromInline @inline(never)
    func giveUp() {
        word.value = Self.free
        word.wakeOne()
    }
}

/// A value under a lock: only one thread at a time can access it. The type is used like the standard library's `Mutex`.
///
/// Thread Sanitizer sees every step of this lock. If threads are waiting for a `Mutex` of the standard library, code that the sanitizer
/// does not see takes the `Mutex`. The sanitizer then reports errors in correct code.
///
/// SENDABLE: only the thread that holds the lock touches the value.
public struct Guarded<Value>: ~Copyable, @unchecked Sendable {
    // SAFETY: the memory is allocated once, lives as long as the lock, and is accessed only by the thread that holds the lock.
    @usableFromInline let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)
    @usableFromInline let word = Futex(Self.free)

    @usableFromInline static var free: UInt32 { 0 }
    @usableFromInline static var taken: UInt32 { 1 }
    /// A thread holds the lock, and other threads may be sleeping until the lock is free.
    @usableFromInline static var contended: UInt32 { 2 }

    @inlinable public init(_ initial: consuming sending Value) { value.initialize(to: initial) }

    @inlinable deinit {
        value.deinitialize(count: 1)
        value.deallocate()
    }

    /// Calls `body` with the value. Other threads wait until `body` returns. `body` must not call `withLock` of the same lock.
    @inlinable
    public borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        if !word.exchange(Self.free, by: Self.taken) { take() }
        defer { if !word.exchange(Self.taken, by: Self.free) { releaseContended() } }
        return try body(&value.pointee)
    }

    @usableFromInline @inline(never)
    func take() {
        while !word.exchange(Self.free, by: Self.contended) {
            if word.value == Self.contended || word.exchange(Self.taken, by: Self.contended) { word.wait(while: Self.contended) }
        }
    }

    @usableFromInline @inline(never)
    func releaseContended() {
        word.value = Self.free
        word.wakeOne()
    }
}

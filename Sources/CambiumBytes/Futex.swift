internal import CMachine

/// The kernel's futex: a number on which threads can sleep until the number changes.
///
/// SENDABLE: every access is atomic.
public final class Futex: @unchecked Sendable {
    // SAFETY: the word is allocated once, lives as long as the object, and is accessed only by atomic operations.
    private let word = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)

    public init(_ value: UInt32) { word.initialize(to: value) }

    deinit { word.deallocate() }

    /// The number. A thread that reads the number also sees all writes that another thread made before that thread stored the number.
    /// Storing the number wakes no thread.
    public var value: UInt32 {
        get { cmachine_load(word) }
        set { cmachine_store(word, newValue) }
    }

    /// Replaces `old` with `new`. Returns `false` and changes nothing if the number is not `old`.
    public func exchange(_ old: UInt32, by new: UInt32) -> Bool { cmachine_exchange(word, old, new) != 0 }

    /// Sleeps until another thread wakes this thread, but only if the number equals `value`. The method may also return although no thread
    /// has woken this thread, so the caller must check the number again.
    public func wait(while value: UInt32) { cmachine_wait(word, value) }

    /// Wakes one thread that sleeps on the number.
    public func wakeOne() { cmachine_wake(word, 1) }
    /// Wakes all threads that sleep on the number.
    public func wakeAll() { cmachine_wake(word, Int32.max) }
}

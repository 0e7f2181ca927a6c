internal import CMachine

/// A number that threads can sleep on until it changes: the kernel's futex.
///
/// SENDABLE: every access is atomic.
public final class WaitWord: @unchecked Sendable {
    // SAFETY: the word is made once, stays as long as the object does, and is given to atomic operations only.
    private let word = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)

    public init(_ value: UInt32) { word.initialize(to: value) }

    deinit { word.deallocate() }

    /// Reading gives what was stored, and what its writer did before. Storing wakes nobody.
    public var value: UInt32 {
        get { cmachine_load(word) }
        set { cmachine_store(word, newValue) }
    }

    /// Puts `new` in the place of `old`; false where another value was there.
    public func exchange(_ old: UInt32, by new: UInt32) -> Bool { cmachine_exchange(word, old, new) != 0 }

    /// Sleeps while the value is this one, or until woken; may return without a reason.
    public func wait(while value: UInt32) { cmachine_wait(word, value) }

    /// Wakes one thread that sleeps on the word, or all of them.
    public func wakeOne() { cmachine_wake(word, 1) }
    public func wakeAll() { cmachine_wake(word, Int32.max) }
}

import CNettle

/// Ed25519 (RFC 8032, section 5.1), by the system's Nettle.
package enum Ed25519 {
    package static let keyByteCount = Int(ED25519_KEY_SIZE)
    package static let signatureByteCount = Int(ED25519_SIGNATURE_SIZE)

    /// Returns the public key of a secret key, 32 bytes.
    ///
    /// - Parameter secret: the secret key, 32 bytes.
    package static func publicKey(of secret: [UInt8]) -> [UInt8] {
        precondition(secret.count == keyByteCount, "A secret key has \(keyByteCount) bytes.")
        return [UInt8](unsafeUninitializedCapacity: keyByteCount) { key, count in
            // SAFETY: both arrays have the 32 bytes that the function reads and writes.
            nettle_ed25519_sha512_public_key(key.baseAddress, secret)
            count = keyByteCount
        }
    }

    /// Returns the signature of a message, 64 bytes.
    ///
    /// - Parameter secret: the secret key, 32 bytes.
    package static func sign(_ message: [UInt8], secret: [UInt8]) -> [UInt8] {
        let key = publicKey(of: secret)
        return [UInt8](unsafeUninitializedCapacity: signatureByteCount) { signature, count in
            // SAFETY: the keys have 32 bytes each, and the function writes 64 bytes.
            nettle_ed25519_sha512_sign(key, secret, message.count, message, signature.baseAddress)
            count = signatureByteCount
        }
    }

    /// Returns whether a signature of a message is valid. Returns `false` if the key or the signature has a wrong number of bytes.
    package static func isValid(_ signature: [UInt8], of message: [UInt8], publicKey: [UInt8]) -> Bool {
        guard publicKey.count == keyByteCount, signature.count == signatureByteCount else { return false }
        // SAFETY: the key and the signature have the number of bytes that the function reads.
        return nettle_ed25519_sha512_verify(publicKey, message.count, message, signature) == 1
    }
}

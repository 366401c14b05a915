/// A hash function of the platform's cryptographic library.
enum SHA256Algorithm: HashAlgorithm {}

/// A hash function of the platform's cryptographic library.
enum SHA512Algorithm: HashAlgorithm {}

// The one file that knows the platform's library. Both sides have the same interface:
//
//   struct HashState<Algorithm: HashAlgorithm>: ~Copyable, Sendable {
//     init()
//     mutating func update(_ bytes: RawSpan)
//     mutating func finish(into digest: UnsafeMutableRawBufferPointer)   // and begin again
//   }
//
// None of it throws. What can fail in libcrypto is memory, where Swift's own arrays trap as well, and a library that lacks SHA-2: a
// process in which nothing can be verified. No caller could do better than stop, none may go on without a digest, and no input can
// bring it about, so both are documented traps.

#if canImport(CryptoKit)
  import CryptoKit

  protocol HashAlgorithm {
    associatedtype Function: CryptoKit.HashFunction & Sendable
  }

  extension SHA256Algorithm {
    typealias Function = CryptoKit.SHA256
  }

  extension SHA512Algorithm {
    typealias Function = CryptoKit.SHA512
  }

  struct HashState<Algorithm: HashAlgorithm>: ~Copyable, Sendable {
    private var function = Algorithm.Function()

    mutating func update(_ bytes: RawSpan) {
      // CryptoKit takes a buffer pointer, and only for the call.
      unsafe bytes.withUnsafeBytes { unsafe function.update(bufferPointer: $0) }
    }

    mutating func finish(into digest: UnsafeMutableRawBufferPointer) {
      precondition(digest.count == Algorithm.Function.Digest.byteCount)
      let result = function.finalize()
      function = Algorithm.Function()
      // Copies exactly the bytes of the digest, whose number was compared above.
      unsafe result.withUnsafeBytes { unsafe digest.copyMemory(from: $0) }
    }
  }
#else
  import CLibcrypto

  protocol HashAlgorithm {
    static var library: LibcryptoHash { get }
  }

  extension SHA256Algorithm {
    static let library = LibcryptoHash(name: "SHA256")
  }

  extension SHA512Algorithm {
    static let library = LibcryptoHash(name: "SHA512")
  }

  /// An algorithm of libcrypto, fetched once a process: a fetch costs more than hashing a small file.
  ///
  /// It comes from a library context of its own, which reads no `openssl.cnf`: neither that file nor `OPENSSL_CONF` can load code
  /// into a verifier or take its hash function away, and no time goes into parsing it.
  @safe struct LibcryptoHash: @unchecked Sendable {  // An EVP_MD never changes and counts its references atomically.
    // Both live as long as the process, so nothing frees the algorithm.
    let algorithm: OpaquePointer
    let byteCount: Int

    init(name: String) {
      guard let context = unsafe OSSL_LIB_CTX_new(), let algorithm = unsafe EVP_MD_fetch(context, name, nil) else {
        preconditionFailure("libcrypto offers no \(name), or memory ran out")
      }
      unsafe self.algorithm = algorithm  // The pointer was compared with NULL above.
      byteCount = Int(unsafe EVP_MD_get_size(algorithm))  // Reads one number of a valid algorithm.
    }
  }

  @safe struct HashState<Algorithm: HashAlgorithm>: ~Copyable, @unchecked Sendable {  // The one owner of its context.
    private let context: OpaquePointer

    init() {
      guard let context = unsafe EVP_MD_CTX_new() else { preconditionFailure("memory ran out") }
      unsafe self.context = context  // The pointer was compared with NULL above.
      // A valid context and a valid algorithm.
      Self.succeed(unsafe EVP_DigestInit_ex2(context, Algorithm.library.algorithm, nil))
    }

    deinit { unsafe EVP_MD_CTX_free(context) }  // This value alone owns the context.

    mutating func update(_ bytes: RawSpan) {
      // libcrypto reads the span's bytes, and only during the call.
      Self.succeed(unsafe bytes.withUnsafeBytes { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) })
    }

    mutating func finish(into digest: UnsafeMutableRawBufferPointer) {
      precondition(digest.count == Algorithm.library.byteCount)
      // libcrypto writes as many bytes as the digest has, compared above.
      Self.succeed(unsafe EVP_DigestFinal_ex(context, digest.baseAddress?.assumingMemoryBound(to: UInt8.self), nil))
      // NULL stands for the algorithm that the context already has.
      Self.succeed(unsafe EVP_DigestInit_ex2(context, nil, nil))
    }

    private static func succeed(_ result: CInt) {
      precondition(result == 1, "libcrypto failed to hash")
    }
  }
#endif

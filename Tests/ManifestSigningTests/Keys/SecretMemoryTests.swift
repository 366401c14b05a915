import CSodium
import Foundation
import Glibc
import ManifestSigning
import TestSupport
import Testing

/// Looks for secrets in this process's memory without holding them: what is searched for comes masked.
enum MemorySearch {
  static let mask: UInt8 = 0xA5

  static func masked(_ bytes: some Sequence<UInt8>) -> [UInt8] { bytes.map { $0 ^ mask } }

  /// How often each pattern stands in memory that the process may write to.
  static func occurrences(of masked: [[UInt8]]) -> [Int] {
    let memory = unsafe open("/proc/self/mem", O_RDONLY)
    // Foundation stops where a file of /proc says that it ends.
    guard memory >= 0, let handle = FileHandle(forReadingAtPath: "/proc/self/maps"), let data = try? handle.readToEnd() else { exit(90) }
    let maps = String(decoding: data, as: UTF8.self)
    defer { close(memory) }
    let size = 1 << 20
    let chunk = UnsafeMutablePointer<UInt8>.allocate(capacity: size)
    defer { unsafe chunk.deallocate() }
    var result = [Int](repeating: 0, count: masked.count)
    for line in maps.split(separator: "\n") {
      let fields = line.split(separator: " ")
      let bounds = fields[0].split(separator: "-").compactMap { UInt(String($0), radix: 16) }
      guard fields[1].hasPrefix("rw"), bounds.count == 2 else { continue }
      var address = bounds[0]
      while address < bounds[1] {
        let wanted = min(size, Int(bounds[1] - address))
        // `chunk` has `size` bytes.
        let received = unsafe pread(memory, chunk, wanted, off_t(address))
        guard received > 0 else { break }
        // Where the chunk itself was read, it holds what was found before; that is wiped after each piece.
        for (index, pattern) in masked.enumerated() { result[index] += unsafe count(pattern, chunk, received) }
        unsafe sodium_memzero(chunk, size)
        // The pieces overlap, so that nothing hides across a border.
        address += UInt(received == wanted && address + UInt(wanted) < bounds[1] ? received - 64 : received)
      }
    }
    return result
  }

  private static func count(_ masked: [UInt8], _ start: UnsafeMutablePointer<UInt8>, _ length: Int) -> Int {
    var (found, offset) = (0, 0)
    while offset + masked.count <= length {
      // The rest of the piece has `length - offset` bytes.
      guard let hit = unsafe memchr(start + offset, CInt(masked[0] ^ mask), length - offset) else { break }
      offset = unsafe UnsafeMutableRawPointer(start).distance(to: hit)
      guard offset + masked.count <= length else { break }
      var isMatch = true
      for index in 1..<masked.count where unsafe start[offset + index] ^ mask != masked[index] {
        isMatch = false
        break
      }
      if isMatch { found += 1 }
      offset += 1
    }
    return found
  }
}

@Suite("Secrets in memory") struct SecretMemoryTests {
  /// Parts of everything secret about a key, masked: halves of the seed, of its digits, of the scalar, the derived key, the passphrase.
  private func patterns(seed: [UInt8], text: [UInt8], secret: String) throws -> [[UInt8]] {
    var scalar = [UInt8](repeating: 0, count: 64)
    // SHA-512 writes 64 bytes.
    unsafe crypto_hash_sha512(&scalar, seed, UInt64(seed.count))
    scalar[0] &= 248
    let digits = Array(hexadecimal(seed).utf8)
    var result = [seed[..<16], seed[16...], digits[..<24], digits[40...], scalar[..<16], scalar[32..<48]].map { MemorySearch.masked($0) }
    result.append(MemorySearch.masked(secret.utf8.prefix(16)))
    if let salt = String(decoding: text, as: UTF8.self).split(separator: "\n").first(where: { $0.hasPrefix("salt: ") })?.dropFirst(6) {
      let bytes = try #require(hexBytes(salt))
      result.append(MemorySearch.masked(try SecretKeyForgery.derivedKey(passphrase: secret, salt: bytes).prefix(16)))
    }
    return result
  }

  private func hexBytes(_ text: Substring) -> [UInt8]? {
    let digits = Array(text)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16) ?? 0 }
  }

  @Test("no key, no passphrase and nothing derived from them is left after use", arguments: [true, false]) func wiping(encrypted: Bool)
    async throws
  {
    let folder = try TemporaryFolder()
    let seed = (0..<32).map { _ in UInt8.random(in: 0...255) }
    let secret = "passphrase " + UUID().uuidString
    let key = try SecretKey(seed: secure(seed))
    let content =
      encrypted
      ? try SecretKeyFile.encrypt(key, name: "n", passphrase: passphrase(secret), costs: .least)
      : try SecretKeyFile.clearText(key, name: "n")
    let text = copy(content)
    let path = try folder.write(text, "k")
    let passphraseFile = try folder.write(Array((secret + "\n").utf8), "p")
    let masked = try patterns(seed: seed, text: text, secret: secret)
    await #expect(processExitsWith: .success) {
      [path = path as String, passphraseFile = passphraseFile as String, masked = masked as [[UInt8]]] in
      func use() throws {
        let source = try unsafe PassphraseSource(option: .file(passphraseFile), prompt: nil)
        let key = try source.open(SecretKeyFile.read(path: path))
        try SecretKeyFile.writeUnencrypted(key, name: "copy", path: path + ".clear")
        try source.withNewPassphrase(for: "copy") { (new) throws(SigningError) in
          try SecretKeyFile.write(key, name: "copy", passphrase: new, costs: .least, path: path + ".encrypted")
        }
        for message in [[], [1], [UInt8](repeating: 2, count: 100_000)] { _ = try key.sign(message) }
        // The search finds what is there: both halves of the seed where the key lives, and the passphrase.
        let during = MemorySearch.occurrences(of: masked)
        guard during[0] >= 1, during[1] >= 1, during[6] >= 1 else { exit(50) }
        _ = try key.sign([3])
      }
      try use()
      let after = MemorySearch.occurrences(of: masked)
      for (index, found) in after.enumerated() where found != 0 { exit(CInt(60 + index)) }
      ProbeResult.confirm(path)
    }
    #expect(FileManager.default.fileExists(atPath: path + ".confirmed"))
  }

  @Test("memory that can't be locked is an error that names the limit and the mend") func noLockedMemory() async {
    await #expect(processExitsWith: .success) {
      var limits = rlimit(rlim_cur: 0, rlim_max: 0)
      guard unsafe setrlimit(CInt(__RLIMIT_MEMLOCK.rawValue), &limits) == 0 else { exit(2) }
      // Root may lock whatever the limit says.
      becomeNobody()
      guard case .memoryNotLocked(_, limit: 0) = errorOf({ () throws(KeyError) in try SecureBytes(capacity: 32) }) else { exit(3) }
      guard case .key(let error, _) = errorOf({ () throws(SigningError) in try SecretKey.generate() }) else { exit(4) }
      guard error.description.contains("RLIMIT_MEMLOCK"), error.hint(path: "")?.contains("ulimit -l") == true else { exit(5) }
    }
  }

  @Test("a soft limit that is too low is raised as far as the hard one allows") func softLimit() async {
    await #expect(processExitsWith: .success) {
      var limits = rlimit(rlim_cur: 0, rlim_max: 65536)
      guard unsafe setrlimit(CInt(__RLIMIT_MEMLOCK.rawValue), &limits) == 0 else { exit(2) }
      becomeNobody()
      _ = try SecretKey.generate().sign([1])
    }
  }

  @Test("64 KiB of locked memory are enough for a passphrase and eight keys") func smallLimit() async {
    await #expect(processExitsWith: .success) {
      var limits = rlimit(rlim_cur: 65536, rlim_max: 65536)
      guard unsafe setrlimit(CInt(__RLIMIT_MEMLOCK.rawValue), &limits) == 0 else { exit(2) }
      becomeNobody()
      let secret = try passphrase("p")
      func hold(_ keys: Int) throws {
        let key = try SecretKey.generate()
        if keys > 1 { try hold(keys - 1) }
        _ = try SecretKeyFile.encrypt(key, name: "a", passphrase: secret, costs: .least)
      }
      try hold(8)
    }
  }
}

/// Says that a child process got to its end.
enum ProbeResult {
  static func confirm(_ path: String) {
    guard FileManager.default.createFile(atPath: path + ".confirmed", contents: nil) else { exit(91) }
  }
}

@Suite("Process hardening") struct ProcessHardeningTests {
  @Test("there are no core files and no tracing afterwards") func hardened() async {
    await #expect(processExitsWith: .success) {
      guard shim_dumping() == 1 else { exit(2) }
      try ProcessHardening.apply()
      var limits = rlimit()
      guard unsafe getrlimit(CInt(RLIMIT_CORE.rawValue), &limits) == 0, limits.rlim_cur == 0, limits.rlim_max == 0 else { exit(3) }
      guard shim_dumping() == 0 else { exit(4) }
    }
  }

  @Test("a process of the same user can no longer read the memory") func unreadable() async {
    await #expect(processExitsWith: .success) {
      becomeNobody()
      try ProcessHardening.apply()
      let status = try runChild("sh", ["-c", "head -c 1 /proc/\(getpid())/environ"])
      guard status.status != 0 else { exit(2) }
    }
  }

  @Test("a passphrase still comes through /dev/stdin and /dev/fd afterwards, for a user who is not root") func deviceFiles() async throws {
    let folder = try TemporaryFolder(mode: 0o755)
    let path = try folder.write(Array("p\n".utf8), "p", mode: 0o644)
    await #expect(processExitsWith: .success) { [path = path as String] in
      becomeNobody()
      let descriptor = unsafe open(path, O_RDONLY)
      try ProcessHardening.apply()
      let source = try unsafe PassphraseSource(option: .file("/dev/fd/\(descriptor)"), prompt: nil)
      let file = try SecretKeyFile(content: secure(KnownKey.encryptedText(passphrase: "p")), path: "k")
      _ = try source.open(file)
    }
  }
}

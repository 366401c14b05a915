import Digests
import FileIO
import Foundation
import ModelInstaller
import Synchronization
import TUFMetadata
import TestSupport
import Testing

/// Nothing is reached over it: the mirrors of these tests are folders.
private struct NoNetwork: Transport {
  func get(
    _ url: HTTPURL, byteLimit: Int64, receive: (Span<UInt8>) throws(InstallationError) -> Void
  ) throws(InstallationError) {
    throw .transport(.connection(url: url.text, .unreachable, detail: "no network"))
  }
}

@Suite("get survives a disk that fails at any call")
struct TargetFetchTests {
  private let folder: TemporaryFolder
  private let content = Array("some weights, and more of them".utf8)
  private let target: TargetPath
  private let file: TargetFile

  init() throws {
    folder = try TemporaryFolder()
    target = try TargetPath("org/model/weights.bin")
    file = TargetFile(byteCount: Int64(content.count), hashes: FileHashes(sha256: SHA256.hash(of: content)), fsverity: nil)
    try folder.write(content, to: "mirror/org/model/weights.bin")
  }

  private func fetch(into name: String, _ target: TargetPath? = nil) throws -> FetchOutcome {
    let fetch = try TargetFetch(
      from: [.folder(folder("mirror"))], over: NoNetwork(), consistentSnapshot: false, into: folder(name), isCancelled: { false })
    return try fetch.fetch(target ?? self.target, file) { _ in }
  }

  private func files(below name: String) -> [String] {
    (FileManager.default.enumerator(atPath: folder(name))?.compactMap { $0 as? String } ?? []).filter { path in
      (try? FileManager.default.attributesOfItem(atPath: folder("\(name)/\(path)"))[.type] as? FileAttributeType) == .typeRegular
    }
  }

  @Test(
    "A full disk is told as such, leaves no part of a file, and is no hindrance once there is room",
    arguments: [Errno.noSpace, .inputOutput])
  func aFullDiskLeavesNothing(errno: Errno) throws {
    let calls = Atomic<Int>(0)
    let outcome = try FaultInjection.withHook(below: folder("count")) { _ in
      calls.add(1, ordering: .sequentiallyConsistent)
      return .proceed
    } _: {
      try fetch(into: "count")
    }
    #expect(outcome == .fetched(from: .folder(folder("mirror"))))
    let count = calls.load(ordering: .sequentiallyConsistent)
    #expect(count > 15)
    var failures = 0
    for broken in 0..<count {
      let name = "models \(broken)"
      let result = FaultInjection.withHook(below: folder(name)) {
        $0.ordinal >= broken ? .fail(errno) : .proceed
      } _: {
        Result { try fetch(into: name) }
      }
      switch result {
      case .success: #expect(files(below: name) == ["org/model/weights.bin"])
      case .failure(let error):
        failures += 1
        guard case InstallationError.file(let fault) = error else {
          Issue.record("\(error)")
          continue
        }
        #expect(fault.errno == errno && fault.path.hasPrefix(folder(name)), "\(error)")
        // Under its name stands nothing, or all of it where only the last steps failed; what is unfinished lies in its own folder.
        for path in files(below: name) where !path.hasPrefix(".signed-manifest-staging/") {
          #expect(path == "org/model/weights.bin")
          #expect(try folder.bytes(of: "\(name)/\(path)") == content)
        }
      }
      _ = try fetch(into: name)
      #expect(try folder.bytes(of: "\(name)/org/model/weights.bin") == content)
      #expect(files(below: name) == ["org/model/weights.bin"], "what was left is cleaned away")
    }
    #expect(failures > 10)
  }

  @Test(
    "No target lies among the unfinished files, however its folder is spelled",
    arguments: [".signed-manifest-staging/x", ".Signed-Manifest-STAGING/x", ".signed-manifest-staging"])
  func theStagingFolderIsReserved(path: String) throws {
    let path = try TargetPath(path)
    #expect(throws: InstallationError.reservedTarget(path)) { try fetch(into: "models", path) }
    #expect(files(below: "models").isEmpty)
  }
}

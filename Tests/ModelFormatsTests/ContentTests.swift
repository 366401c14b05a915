import Foundation
import ModelFormats
import Testing

@Suite("A file's name and its first bytes must agree")
struct ContentTests {
  static let imposters: [(String, [UInt8], FileContent)] = [
    ("zero bytes long", [], .empty),
    ("an error page", Array("<!DOCTYPE html>\n<html><body>404</body></html>".utf8), .html),
    ("an error page after a comment", Array("<!-- x --><HTML>".utf8), .html),
    ("an error page with a byte order mark", [0xEF, 0xBB, 0xBF] + Array(" <html>".utf8), .html),
    ("a storage service's error", Array("<?xml version=\"1.0\"?><Error><Code>NoSuchKey</Code></Error>".utf8), .xml),
    ("an interface's error", Array(#"{"error":"Repository not found"}"#.utf8), .json),
    ("a short message", Array("Entry not found".utf8), .text),
    ("a Git LFS pointer", Array("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n".utf8), .gitLFSPointer),
    ("a ZIP archive", Array("PK\u{3}\u{4}".utf8) + [0, 0, 0xFF], .zip),
    ("compressed data", [0x1F, 0x8B, 8, 0, 0xFF], .gzip),
    ("a file of llama.cpp before GGUF", Array("tjgg".utf8) + [3, 0, 0, 0], .legacyGGML),
    ("a pickle", [0x80, 2, 0x63], .pickle),
  ]

  @Test("An imposter is refused by what it looks like, whatever the case of the name", arguments: imposters)
  func imposter(_ what: String, bytes: [UInt8], content: FileContent) {
    for (name, format) in [("dir/model.gguf", ModelFormat.gguf), ("MODEL.GGUF", .gguf), ("a.b.safetensors", .safetensors)] {
      #expect(throws: ModelFormatError.wrongContent(expected: format, found: content), "\(what)") {
        try ModelInspection.inspect(name: name, bytes: bytes)
      }
    }
  }

  @Test("Under another name the same file is unknown and allowed", arguments: imposters)
  func otherName(_ what: String, bytes: [UInt8], content: FileContent) throws {
    for name in ["model.onnx", "gguf", "x.gguf/readme", ""] {
      let summary = try ModelInspection.inspect(name: name, bytes: bytes)
      #expect(summary.format == .unknown, "\(what)")
      #expect(summary.content == content, "\(what)")
    }
  }

  @Test("One format under the other's name is refused")
  func crossed() {
    #expect(throws: ModelFormatError.wrongContent(expected: .safetensors, found: .gguf)) {
      try ModelInspection.inspect(name: "x.safetensors", bytes: GGUFBuilder.small.bytes)
    }
    #expect(throws: ModelFormatError.wrongContent(expected: .gguf, found: .safetensors)) {
      try ModelInspection.inspect(name: "x.gguf", bytes: safetensors("{}"))
    }
    #expect(throws: ModelFormatError.wrongContent(expected: .gguf, found: .zeros)) {
      try ModelInspection.inspect(name: "x.gguf", bytes: [UInt8](repeating: 0, count: 1000))
    }
  }

  @Test("What begins as a model is checked as one under any name")
  func checkedByContent() throws {
    #expect(try ModelInspection.inspect(name: "weights.bin", bytes: GGUFBuilder.small.bytes).format == .gguf)
    #expect(try ModelInspection.inspect(name: "weights", bytes: safetensors("{}")).format == .safetensors)
    #expect(throws: ModelFormatError.truncatedData(tensor: "t", end: 160, length: 159)) {
      try ModelInspection.inspect(name: "weights.bin", bytes: Array(GGUFBuilder.small.bytes.dropLast()))
    }
    #expect(throws: ModelFormatError.trailingBytes(expected: 10, length: 11)) {
      try ModelInspection.inspect(name: "weights.bin", bytes: safetensors("{}", dataLength: 1))
    }
  }

  @Test("The message names the tensor, where it ends, and what the file has")
  func message() {
    let error = ModelFormatError.truncatedData(tensor: "blk.0.attn_q.weight", end: 1234, length: 1000)
    #expect("\(error)" == "tensor \"blk.0.attn_q.weight\" ends at byte 1234, the file has 1000 bytes: it is truncated")
    #expect("\(ModelFormatError.wrongContent(expected: .gguf, found: .html))" == "expected a gguf file, found an HTML page")
    #expect("\(ModelFormatError.duplicateKey(String(repeating: "k", count: 70_000)))".utf8.count < 200)
  }
}

@Suite("A header is read in bounded memory")
struct WindowTests {
  struct Broken: Error, Equatable {}

  @Test("A failure to read is the caller's own error", arguments: [0, 512, 600])
  func failure(after good: Int) {
    let bytes = GGUFBuilder.small.with {
      $0.entries.append(GGUFBuilder.entry("k", 8, GGUFBuilder.text(String(repeating: "x", count: 900))))
    }
    var limits = ModelFormatLimits()
    limits.windowLength = 16
    #expect(throws: ModelInspectionError<Broken>.read(Broken())) {
      _ = try ModelInspection.inspect(name: "x.gguf", length: UInt64(bytes.count), limits: limits) { offset, count throws(Broken) in
        // The prefix is read first, and then from the start again.
        guard good > 0, offset < UInt64(good - 500) || count == 512 else { throw Broken() }
        return Array(bytes[Int(offset)..<Int(offset) + count])
      }
    }
  }

  @Test("A file that became shorter is told")
  func shortRead() {
    let bytes = GGUFBuilder.small.bytes
    #expect(throws: ModelInspectionError<Never>.format(.shortRead(offset: 0, expected: 512, found: bytes.count))) {
      _ = try ModelInspection.inspect(name: "x.gguf", length: 1 << 62) { _, _ throws(Never) in bytes }
    }
  }

  @Test("No read is longer than the window, none beyond the file, and the data is not read at all", arguments: [16, 17, 31, 64, 4096])
  func windows(length: Int) throws {
    let tokens = GGUFBuilder.array(8, 300, Array((0..<300).map { GGUFBuilder.text("token \($0)") }.joined()))
    let bytes = GGUFBuilder.small.with { $0.entries.append(GGUFBuilder.entry("tokens", 9, tokens)) }
    let expected = try ModelInspection.inspect(name: "x.gguf", bytes: bytes)
    var limits = ModelFormatLimits()
    limits.windowLength = length
    var furthest = 0
    let summary = try ModelInspection.inspect(name: "x.gguf", length: UInt64(bytes.count), limits: limits) { offset, count throws(Never) in
      #expect(count <= max(length, 512) && count > 0)
      furthest = max(furthest, Int(offset) + count)
      return Array(bytes[Int(offset)..<Int(offset) + count])
    }
    #expect(summary == expected)
    #expect(furthest <= bytes.count)
    #expect(length > 64 || furthest < bytes.count)
  }

  @Test("A header beyond its bound is refused, without reading on")
  func endlessHeader() {
    var limits = ModelFormatLimits()
    limits.ggufHeaderLength = 1000
    let bytes = GGUFBuilder.small.with {
      $0.entries.append(GGUFBuilder.entry("k", 8, GGUFBuilder.text(String(repeating: "x", count: 2000))))
    }
    #expect(throws: ModelFormatError.headerTooLong(.value(key: "k"), offset: 90, needed: 2000, limit: 1000)) {
      try ModelInspection.inspect(name: "x.gguf", bytes: bytes, limits: limits)
    }
  }

  @Test("Names beyond their bound are refused")
  func endlessNames() {
    var limits = ModelFormatLimits()
    limits.nameBytes = 30
    let bytes = GGUFBuilder.small.with { $0.entries.append(GGUFBuilder.entry("key no. 11", 0, [1])) }
    #expect(throws: ModelFormatError.tooMany(.tensorName(index: 0), found: 31, limit: 30)) {
      try ModelInspection.inspect(name: "x.gguf", bytes: bytes, limits: limits)
    }
    limits.nameBytes = 0
    #expect(throws: ModelFormatError.self) {
      try ModelInspection.inspect(name: "x.safetensors", bytes: safetensors(#"{"a":{}}"#), limits: limits)
    }
  }
}

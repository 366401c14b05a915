import Foundation
import TestSupport
import Testing

/// The Python packages `gguf` and `safetensors`, which read and write the same formats: the interpreter at `.peers/bin/python3`.
enum PeerReaders {
  /// A real model file. A missing one is a failure, not a skipped test.
  static func model(_ path: String) throws -> URL {
    let url = packageRoot.appending(path: ".peers/models/\(path)")
    try #require(FileManager.default.fileExists(atPath: url.path), "missing test model \(url.path): run scripts/fetch-models")
    return url
  }

  /// Runs a script with arguments and standard input, and gives what it prints.
  static func run(_ script: String, _ arguments: [String] = [], input: String = "") throws -> Data {
    Data(try runChild(peerPython(), ["-c", script] + arguments, input: Array(input.utf8)).successful().output)
  }

  /// What a peer reads from a file: tensors in the order of the data.
  static func describe(_ file: URL) throws -> PeerModel {
    try JSONDecoder().decode(PeerModel.self, from: run(file.pathExtension == "gguf" ? describeGGUF : describeSafetensors, [file.path]))
  }

  /// Those of the variants of a file (`offset value` a line, one byte replaced) that a peer reads without an error.
  static func accepted(_ variants: [(offset: Int, value: UInt8)], of file: URL) throws -> [Bool] {
    let input = variants.map { "\($0.offset) \($0.value)\n" }.joined()
    let output = try run(file.pathExtension == "gguf" ? judgeGGUF : judgeSafetensors, [file.path], input: input)
    return output.filter { $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: "1") }.map { $0 == UInt8(ascii: "1") }
  }

  private static let describeGGUF = """
    import json, sys, gguf
    reader = gguf.GGUFReader(sys.argv[1])
    text = lambda key: reader.fields[key].contents() if key in reader.fields else None
    print(json.dumps({
      'architecture': text('general.architecture'), 'name': text('general.name'),
      'fileType': gguf.LlamaFileType(text('general.file_type')).name if 'general.file_type' in reader.fields else None,
      'version': int(reader.fields['GGUF.version'].parts[0][0]), 'dataOffset': int(reader.data_offset),
      'tensors': [{'name': t.name, 'type': t.tensor_type.name, 'shape': [int(n) for n in t.shape],
                   'offset': int(t.data_offset) - int(reader.data_offset), 'byteCount': int(t.n_bytes)} for t in reader.tensors]}))
    """

  /// The library gives no offsets: they follow from the order in which it lists the tensors, which is that of the data, and from the lengths.
  private static let describeSafetensors = """
    import json, sys, safetensors
    content = open(sys.argv[1], 'rb').read()
    with safetensors.safe_open(sys.argv[1], 'np') as file:
      names, metadata = file.offset_keys(), file.metadata()
      slices = {name: file.get_slice(name) for name in names}
      types = {name: (s.get_dtype(), s.get_shape()) for name, s in slices.items()}
    lengths = {name: len(t['data']) for name, t in safetensors.deserialize(content)}
    tensors, offset = [], 0
    for name in names:
      tensors.append({'name': name, 'type': types[name][0], 'shape': types[name][1], 'offset': offset, 'byteCount': lengths[name]})
      offset += lengths[name]
    print(json.dumps({'metadata': metadata, 'dataOffset': len(content) - offset, 'tensors': tensors}))
    """

  private static let judgeGGUF = """
    import sys, numpy, gguf.gguf_reader as module
    original = open(sys.argv[1], 'rb').read()
    class Memory:
      def __getattr__(self, name): return getattr(numpy, name)
      def memmap(self, content, mode): return numpy.frombuffer(content, dtype=numpy.uint8)
    module.np = Memory()
    for line in sys.stdin:
      offset, value = map(int, line.split())
      variant = bytearray(original)
      variant[offset] = value
      try:
        module.GGUFReader(bytes(variant))
        print(1)
      except Exception: print(0)
    """

  private static let judgeSafetensors = """
    import sys, safetensors
    original = open(sys.argv[1], 'rb').read()
    for line in sys.stdin:
      offset, value = map(int, line.split())
      variant = bytearray(original)
      variant[offset] = value
      try:
        safetensors.deserialize(bytes(variant))
        print(1)
      except Exception: print(0)
    """
}

/// A file as a peer read it.
struct PeerModel: Decodable {
  var architecture: String?
  var name: String?
  var fileType: String?
  var version: UInt32?
  var metadata: [String: String]?
  var dataOffset: UInt64
  var tensors: [Tensor]

  struct Tensor: Decodable, Equatable {
    var name: String
    var type: String
    var shape: [UInt64]
    var offset: UInt64
    var byteCount: UInt64
  }
}

import Foundation
import ModelFormats
import TestSupport
import Testing

@Suite("What we read is what the Python packages gguf and safetensors read")
struct PeerComparisonTests {
  @Test("Real safetensors files", arguments: ["all-minilm-l6-v2/model.safetensors", "silero-vad/silero_vad_16k.safetensors"])
  func realSafetensors(_ path: String) throws { try compare(PeerReaders.model(path)) }

  @Test(
    "A real GGUF file of 253 MB", .enabled(if: runsSlowTests))
  func realGGUF() throws {
    let summary = try compare(PeerReaders.model("gemma-3-270m/gemma-3-270m-q4_k_m.gguf"))
    #expect(summary.architecture == "gemma3")
    #expect(summary.quantisation == "Q4_K_M")
  }

  @Test("Other model formats are unknown, and allowed", arguments: ["silero-vad/silero_vad.onnx", "magika/model.onnx"])
  func realONNX(_ path: String) throws {
    let (summary, _) = try inspect(PeerReaders.model(path))
    #expect(summary.format == .unknown)
    #expect(summary.content == .binary)
    #expect(summary.quantisation == nil)
  }

  @Test("GGUF files of every type that GGUFWriter writes, with every kind of metadata value", arguments: [32, 64])
  func writtenGGUF(alignment: Int) throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "every.gguf")
    _ = try PeerReaders.run(PeerWriters.everyGGUFType, [file.path, "\(alignment)"])
    let summary = try compare(file)
    #expect(summary.tensorCount >= 33)
    #expect(summary.types.count == summary.tensorCount)
  }

  @Test("safetensors files of every type that the library writes")
  func writtenSafetensors() throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "every.safetensors")
    _ = try PeerReaders.run(PeerWriters.everyNumpyType, [file.path])
    #expect(try compare(file).tensorCount >= 13)
  }

  @Test("safetensors files of every type that the library reads")
  func everyDataType() throws {
    let folder = try TemporaryFolder()
    let widths: [(String, Int)] = [
      ("BOOL", 8), ("F4", 4), ("F6_E2M3", 6), ("F6_E3M2", 6), ("U8", 8), ("I8", 8), ("F8_E5M2", 8), ("F8_E4M3", 8), ("F8_E8M0", 8),
      ("F8_E4M3FNUZ", 8), ("F8_E5M2FNUZ", 8), ("I16", 16), ("U16", 16), ("F16", 16), ("BF16", 16), ("I32", 32), ("U32", 32), ("F32", 32),
      ("C64", 64), ("F64", 64), ("I64", 64), ("U64", 64),
    ]
    var members: [String] = []
    var end = 0
    for (type, bits) in widths {
      members.append(#""\#(type)":{"dtype":"\#(type)","shape":[2,4],"data_offsets":[\#(end),\#(end + bits)]}"#)
      end += bits
    }
    let file = folder.url.appending(path: "types.safetensors")
    try Data(safetensors("{" + members.joined(separator: ",") + "}", dataLength: end)).write(to: file)
    #expect(try PeerReaders.accepted([(0, Data(contentsOf: file)[0])], of: file) == [true])
    #expect(try inspect(file).0.types.count == widths.count)
  }

  @discardableResult
  private func compare(_ file: URL) throws -> ModelSummary {
    let peer = try PeerReaders.describe(file)
    let (summary, tensors) = try inspect(file)
    let ours = tensors.map {
      PeerModel.Tensor(
        name: String(decoding: $0.name, as: UTF8.self), type: $0.type, shape: $0.shape, offset: $0.offset, byteCount: $0.byteCount)
    }
    #expect(ours.sorted { ($0.offset, $0.byteCount) < ($1.offset, $1.byteCount) } == peer.tensors)
    #expect(summary.tensorCount == peer.tensors.count)
    #expect(summary.parameterCount == peer.tensors.reduce(0) { $0 + $1.shape.reduce(1, *) })
    #expect(summary.dataOffset == peer.dataOffset)
    #expect(summary.architecture == peer.architecture)
    #expect(summary.name == peer.name)
    #expect(summary.version == peer.version)
    if let fileType = peer.fileType { #expect(summary.quantisation.map { fileType.hasSuffix($0) } == true) }
    if let metadata = peer.metadata {
      #expect(Dictionary(uniqueKeysWithValues: summary.metadata.map { ($0.key, $0.value) }) == metadata)
    }
    return summary
  }

  private func inspect(_ file: URL) throws -> (ModelSummary, [TensorDescription]) {
    let handle = try FileHandle(forReadingFrom: file)
    let length = try handle.seekToEnd()
    var tensors: [TensorDescription] = []
    let read = { (offset: UInt64, count: Int) throws -> [UInt8] in
      try handle.seek(toOffset: offset)
      return try Array(handle.read(upToCount: count) ?? Data())
    }
    let summary = try ModelInspection.inspect(name: file.path, length: length, tensor: { tensors.append($0) }, read: read)
    return (summary, tensors)
  }
}

enum PeerWriters {
  static let everyGGUFType = """
    import sys, numpy, gguf
    alignment = int(sys.argv[2])
    writer = gguf.GGUFWriter(sys.argv[1], 'test')
    if alignment != 32: writer.add_custom_alignment(alignment)
    writer.add_name('Prüfung')
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_IQ2_XS)
    for kind in ('uint8', 'int8', 'uint16', 'int16', 'uint32', 'int32', 'uint64', 'int64'): getattr(writer, 'add_' + kind)('test.' + kind, 100)
    writer.add_float32('test.float32', 1.5)
    writer.add_float64('test.float64', 1.5)
    writer.add_bool('test.bool', True)
    writer.add_array('test.booleans', [True, False])
    writer.add_array('test.numbers', [1, 2, 3])
    writer.add_array('test.floats', [1.0, 2.0])
    writer.add_array('tokenizer.ggml.tokens', ['token %d' % n for n in range(5000)])
    for kind, (block, size) in gguf.GGML_QUANT_SIZES.items():
      writer.add_tensor('blk.0.' + kind.name, numpy.zeros((3, 2 * size), dtype=numpy.uint8), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    """

  static let everyNumpyType = """
    import sys, numpy, safetensors.numpy
    names = ('bool', 'uint8', 'int8', 'uint16', 'int16', 'float16', 'uint32', 'int32', 'float32', 'uint64', 'int64', 'float64', 'complex64')
    tensors = {'layer.' + name: numpy.ones((3, 5), dtype=name) for name in names}
    tensors['scalar'] = numpy.array(1, dtype='float32')
    tensors['empty'] = numpy.zeros((0, 4), dtype='int64')
    tensors['n\\u00e4me \\U0001F600 \\t"'] = numpy.ones((2,), dtype='int8')
    safetensors.numpy.save_file(tensors, sys.argv[1], metadata={'format': 'np', 'k\\u00e4y': 'a "quoted"\\n text'})
    """
}

import Foundation
import TUFMetadata
import TestSupport
import Testing

@Suite struct `Canonical JSON` {
  @Test(arguments: [
    (#" { "b" : [ 1 , -0 , true , false , null ] , "a" : { } } "#, #"{"a":{},"b":[1,0,true,false,null]}"#),
    (#"["\/\u0041\n\"\\","\u007f"]"#, "[\"/A\n\\\"\\\\\",\"\u{7F}\"]"),
    (#"{"\ud83d\ude00":1,"\uffee":2,"é":3,"z":4}"#, "{\"z\":4,\"é\":3,\"\u{FFEE}\":2,\"😀\":1}"),
    (#""\"\\""#, #""\"\\""#), ("[ ]", "[]"),
  ])
  func `has sorted members, no white space, and escapes quotes and backslashes only`(text: String, canonical: String) throws {
    let value = try read(text)
    #expect(value.canonicalText == canonical)
    #expect(String(decoding: JSONTree(value).canonicalBytes, as: UTF8.self) == canonical)
  }

  @Test func `equals securesystemslib's on 3,000 random documents, byte for byte`() throws {
    let lines = try peerDocuments(seed: 20_260_101, count: 3000)
    #expect(lines.count == 3000)
    for line in lines {
      let fields = line.split(separator: " ")
      let document = try JSONDocument(parsing: bytes(hexadecimal: fields[0]))
      let expected = try bytes(hexadecimal: fields[1])
      #expect(document.root.canonicalBytes == expected)
      #expect(document.root.withCanonicalBytes { span in span.indices.map { span[$0] } } == expected)
      #expect(JSONTree(document.root).canonicalBytes == expected)
      #expect(hasTruthfulSlices(document.root, of: document))
      // Control characters stand raw in canonical JSON, which is then not JSON.
      if expected.allSatisfy({ $0 >= 0x20 }) {
        let again = try JSONDocument(parsing: expected)
        #expect(again.root.canonicalSlice == 0..<expected.count)
        #expect(again.root.canonicalBytes == expected)
        #expect(JSONTree(again.root) == JSONTree(document.root))
      } else {
        #expect(fault(expected) != nil)
      }
    }
  }

  @Test(arguments: [
    (#"{"a":1,"b":["\"\\",{}]}"#, true), (" [1] ", true), ("[ 1]", false), ("[1,[2, 3],4]", false), (#"{"b":1,"a":2}"#, false),
    (#"["\u0041"]"#, false),
    (#"["\/"]"#, false), ("[-0]", false), (#"[{"b":0,"a":0}]"#, false), ("{ }", false), (#"{"a" :1}"#, false),
  ])
  func `is known to be the source itself, or not`(text: String, isCanonical: Bool) throws {
    let document = try JSONDocument(parsing: Array(text.utf8))
    #expect((document.root.canonicalSlice != nil) == isCanonical)
    #expect(hasTruthfulSlices(document.root, of: document))
  }

  /// Whether each part that is said to be canonical as it stands is, no other is, and all have the canonical form of their trees.
  private func hasTruthfulSlices(_ value: JSONValue, of document: JSONDocument) -> Bool {
    let canonical = JSONTree(value).canonicalBytes
    return (value.canonicalSlice != nil) == document.bytes[value.sourceRange].elementsEqual(canonical)
      && value.canonicalBytes == canonical
      && value.members.allSatisfy { hasTruthfulSlices($0.value, of: document) }
      && value.elements.allSatisfy { hasTruthfulSlices($0, of: document) }
  }

  private func peerDocuments(seed: Int, count: Int) throws -> [Substring] {
    let script = try peerScript("canonical_documents.py")
    return try runChild(peerPython(), [script, String(seed), String(count)]).successful().text.split(separator: "\n")
  }
}

/// The model file formats that are told apart before anything is signed.
public enum ModelFormat: String, Equatable, Sendable, CaseIterable {
  /// GGUF, the format of llama.cpp.
  case gguf
  /// safetensors, the format of the Hugging Face libraries.
  case safetensors
  /// Anything else: allowed, and named as unknown.
  case unknown
}

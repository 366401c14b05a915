internal import CommandLineSupport
internal import ManifestSigning

/// The release side: keys, catalogs, signatures.
@main
struct Main {
  static func main() {
    TokenProcess.serveIfAsked()
    let command = Command(
      name: "manifest-sign", version: ToolVersion.current,
      summary: "Hashes AI model files and signs the whole catalog as metadata of The Update Framework.",
      verbs: [
        InitVerb.verb, PublishVerb.verb, HashVerb.verb, ProposeVerb.verb, SignVerb.verb, RotateVerb.verb, RefreshVerb.verb,
        StatusVerb.verb, ShowVerb.verb, VerifyVerb.verb, DrillVerb.verb, KeyGenerateVerb.verb, KeyListVerb.verb,
        KeyImportVerb.verb, KeyExportVerb.verb, KeyPassphraseVerb.verb, KeyCheckVerb.verb,
      ],
      explain: { error in Failure(explaining: error) })
    // For every verb, help and mistakes in the command line too: none has to think of it.
    command.main { try ProcessHardening.apply(signers: RepositoryOptions.signersPath) }
  }
}

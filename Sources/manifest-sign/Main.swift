@main
struct Main {
  static func main() {
    print("manifest-sign")
  }
}

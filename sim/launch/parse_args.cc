#include "sim/launch/parse_args.h"

#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "sim/base/strings.h"
#include "sim/launch/data_type.h"

namespace sm89::launch {
namespace {

constexpr uint64_t kMaxCount = uint64_t{1} << 44;  // keeps size_bytes() from wrapping; limits are far below
constexpr uint64_t kMaxU64 = ~uint64_t{0};
constexpr uint64_t kMaxSeed = 0xffffffff;  // seeds count modulo 2^32
constexpr uint64_t kMaxAlignBytes = uint64_t{1} << 30;
constexpr size_t kMaxParamBytes = 32764;  // CUDA C++ programming guide: kernel parameters, CUDA 12.1 on
constexpr uint32_t kPointerBytes = 8;
constexpr size_t kMaxArgs = 4096;  // pointers that a parameter block has room for

constexpr std::array<std::pair<std::string_view, Init>, 10> kInits = {{{"zero", Init::kZero},
                                                                       {"iota", Init::kIota},
                                                                       {"uniform", Init::kUniform},
                                                                       {"hash", Init::kHash},
                                                                       {"csr_rows", Init::kCsrRows},
                                                                       {"affine", Init::kAffine},
                                                                       {"chase", Init::kChase},
                                                                       {"self", Init::kSelf},
                                                                       {"level", Init::kLevel},
                                                                       {"file", Init::kFile}}};

class ArgParser {
 public:
  ArgParser(ObjectReader& launch, const std::optional<std::string>& folder, LaunchSpec& spec)
      : launch_(launch), faults_(launch.faults()), folder_(folder), spec_(spec) {}

  void Parse() {
    const std::vector<JsonNode>& buffers = launch_.Array("buffers", false);
    const std::vector<JsonNode>& args = launch_.Array("args", true);
    if (buffers.size() + args.size() > kMaxArgs) {
      faults_.Add(launch_.node(), launch_.Path("args"),
                  absl::StrCat("at most ", kMaxArgs, " buffers and arguments"),
                  absl::StrCat(buffers.size() + args.size(), " buffers and arguments are too many"));
      return;
    }
    size_t index = 0;
    for (const JsonNode& node : buffers) {
      ObjectReader reader(node, absl::StrCat(launch_.Path("buffers"), "[", index++, "]"), faults_);
      AddBuffer(reader, "name");
      reader.Finish();
    }
    index = 0;
    for (const JsonNode& node : args) {
      ParseArg(node, absl::StrCat(launch_.Path("args"), "[", index, "]"), absl::StrCat("#", index));
      ++index;
    }
    for (const OpenReference& open : references_) Resolve(open);
  }

 private:
  // A name to be looked up when all buffers are known: an argument may come before the one that declares it.
  struct OpenReference {
    size_t arg;
    size_t slot;
    const JsonNode* node;
    std::string path;
  };

  void ParseArg(const JsonNode& node, const std::string& path, const std::string& default_name) {
    ObjectReader reader(node, path, faults_);
    Arg arg;
    arg.name = default_name;
    if (reader.Has("buffer")) {
      arg.name = AddBuffer(reader, "buffer");
      arg.type = "buffer";
      arg.bytes.resize(kPointerBytes);
      arg.pointers.push_back({0, static_cast<uint32_t>(spec_.buffers.size() - 1), 0});
    } else if (reader.Has("ref")) {
      arg.type = "buffer";
      arg.bytes.resize(kPointerBytes);
      AddReference(reader, 0, arg);
      if (const JsonNode* name = reader.Find("ref"); name->kind == JsonNode::Kind::kString)
        arg.name = name->text;
    } else if (reader.Has("bytes_hex")) {
      ParseRaw(reader, arg);
    } else if (reader.is_object()) {
      ParseScalar(reader, arg);
    }
    spec_.args.push_back(std::move(arg));
    reader.Finish();
  }

  // Reads a buffer's keys; its name is under `name_key`.
  std::string AddBuffer(ObjectReader& reader, std::string_view name_key) {
    BufferSpec buffer;
    buffer.name = reader.Text(name_key);
    for (const BufferSpec& other : spec_.buffers) {
      if (!buffer.name.empty() && other.name == buffer.name) {
        faults_.Add(*reader.Find(name_key), reader.Path(name_key),
                    "a new name; {\"ref\": NAME} passes a buffer again", "a buffer's name comes twice");
      }
    }
    const std::string type = reader.Text("dtype");
    if (const auto known = DataTypeFromName(type); known.has_value()) {
      buffer.type = *known;
    } else if (!type.empty()) {
      faults_.Add(*reader.Find("dtype"), reader.Path("dtype"), absl::StrCat("one of ", Av(AllDataTypes())),
                  "an unknown element type");
    }
    buffer.count = reader.Natural("count", 1, kMaxCount);
    buffer.output = reader.BoolOr("output", false);
    buffer.align_bytes = static_cast<uint32_t>(reader.NaturalOr("align", 1, kMaxAlignBytes, 256));
    if ((buffer.align_bytes & (buffer.align_bytes - 1)) != 0) {
      faults_.Add(*reader.Find("align"), reader.Path("align"), "a power of two",
                  "an alignment is not possible");
    }
    ParseGenerator(reader, buffer);
    spec_.buffers.push_back(std::move(buffer));
    return spec_.buffers.back().name;
  }

  void ParseGenerator(ObjectReader& reader, BufferSpec& buffer) {
    Generator& g = buffer.generator;
    const JsonNode* node = reader.Required("init", "a generator");
    if (node == nullptr) return;
    bool known = false;
    std::string names;
    for (const auto& [name, init] : kInits) {
      absl::StrAppend(&names, names.empty() ? "one of " : ", ", Av(name));
      if (node->kind != JsonNode::Kind::kString || node->text != name) continue;
      g.init = init;
      known = true;
    }
    if (!known) {
      faults_.Add(*node, reader.Path("init"), names, "an unknown generator");
      return;
    }
    ParseGeneratorKeys(reader, buffer);
  }

  void ParseGeneratorKeys(ObjectReader& reader, BufferSpec& buffer) {
    Generator& g = buffer.generator;
    switch (g.init) {
      case Init::kZero:
      case Init::kIota:
        return;
      case Init::kUniform:
        g.seed = reader.Natural("seed", 0, kMaxSeed);
        g.lo = reader.Finite("lo");
        g.hi = reader.Finite("hi");
        if (!IsFloat(buffer.type)) {
          WrongType(reader, "f16, bf16, f32 or f64; integers: init \"hash\" with \"mod\"");
        }
        return;
      case Init::kHash:
        g.seed = reader.Natural("seed", 0, kMaxSeed);
        g.mod = reader.NaturalOr("mod", 0, kMaxU64, 0);
        return;
      case Init::kCsrRows:
        g.seed = reader.Natural("seed", 0, kMaxSeed);
        g.min = reader.Natural("min", 0, kMaxSeed);
        g.span = reader.Natural("span", 1, kMaxSeed);
        return;
      case Init::kAffine:
        g.mul = reader.Natural("mul", 0, kMaxU64);
        g.add = reader.Natural("add", 0, kMaxU64);
        g.mod = reader.Natural("mod", 1, kMaxU64);
        return;
      case Init::kChase:
      case Init::kSelf:
        g.stride_bytes = reader.Natural("stride", kPointerBytes, kMaxCount);
        if (g.stride_bytes % kPointerBytes != 0) {
          faults_.Add(*reader.Find("stride"), reader.Path("stride"), "a multiple of 8 bytes",
                      "addresses do not fit the stride");
        }
        if (buffer.type != DataType::kU64) WrongType(reader, "u64: the elements are addresses");
        return;
      case Init::kLevel:
        g.seed = reader.Natural("seed", 0, kMaxSeed);
        return;
      case Init::kFile:
        ParseFile(reader, g);
        return;
    }
  }

  void WrongType(ObjectReader& reader, const std::string& expected) {
    const JsonNode* node = reader.Find("dtype");
    if (node != nullptr) {
      faults_.Add(*node, reader.Path("dtype"), expected, "the generator cannot make elements of this type");
    }
  }

  void ParseFile(ObjectReader& reader, Generator& g) {
    const std::string written = reader.Text("file");
    if (written.empty()) return;
    if (!folder_.has_value()) {
      faults_.Add(*reader.Find("file"), reader.Path("file"), "a generator", "raw files cannot be read here");
      return;
    }
    g.file = (std::filesystem::path(*folder_) / written).generic_string();
  }

  void ParseScalar(ObjectReader& reader, Arg& arg) {
    arg.name = reader.TextOr("name", arg.name);
    const JsonNode* value = nullptr;
    std::optional<DataType> type;
    for (const auto& [key, node] : reader.node().members) {
      if (const auto named = DataTypeFromName(key); named.has_value() && value == nullptr) {
        type = named;
        value = reader.Find(key);
      }
    }
    if (value == nullptr) {
      faults_.AddMissing(
          reader.node(), reader.Path("<type>"),
          absl::StrCat("\"buffer\", \"ref\", \"bytes_hex\" or a value by its type: ", Av(AllDataTypes())));
      for (const auto& [key, node] : reader.node().members) reader.Find(key);  // one fault is enough
      return;
    }
    const std::string key(Name(*type));
    arg.type = key;
    arg.bytes.resize(SizeBytes(*type));
    IsFloat(*type) ? ParseReal(reader, *value, *type, arg) : ParseInteger(reader, *value, *type, arg);
  }

  void ParseInteger(ObjectReader& reader, const JsonNode& value, DataType type, Arg& arg) {
    const bool below = value.kind == JsonNode::Kind::kInteger;  // the reader keeps these for negative numbers
    const bool fits = below ? value.integer >= LeastInteger(type)
                            : value.kind == JsonNode::Kind::kUnsigned && value.natural <= MostInteger(type);
    if (!fits) {
      faults_.Add(value, reader.Path(Name(type)),
                  absl::StrCat("an integer from ", LeastInteger(type), " to ", MostInteger(type)),
                  value.is_number() ? "a number does not fit its type" : "a value has the wrong type");
      return;
    }
    StoreInteger(type, value.integer, arg.bytes.data());
  }

  void ParseReal(ObjectReader& reader, const JsonNode& value, DataType type, Arg& arg) {
    double number = value.real;
    bool known = value.is_number();
    if (value.kind == JsonNode::Kind::kString) {  // JSON has no spelling for these
      known = value.text == "inf" || value.text == "-inf" || value.text == "nan";
      if (known) number = value.text == "nan" ? std::nan("") : value.text == "inf" ? HUGE_VAL : -HUGE_VAL;
    }
    if (!known) {
      faults_.Add(value, reader.Path(Name(type)), "a number, \"inf\", \"-inf\" or \"nan\"",
                  "a value has the wrong type");
      return;
    }
    StoreReal(type, number, arg.bytes.data());
    const double stored = std::get<double>(LoadNumber(type, arg.bytes.data()));
    if (std::isfinite(number) && !std::isfinite(stored)) {
      faults_.Add(value, reader.Path(Name(type)), absl::StrCat("a number in the range of ", Av(Name(type))),
                  "a number does not fit its type");
    }
  }

  // Bytes of a struct passed by value, with addresses of buffers at given offsets.
  void ParseRaw(ObjectReader& reader, Arg& arg) {
    arg.name = reader.TextOr("name", arg.name);
    arg.type = "raw";
    const std::string digits = reader.Text("bytes_hex");
    bool hex = digits.size() % 2 == 0 && digits.size() <= 2 * kMaxParamBytes;
    for (const char c : digits) hex = hex && std::strchr("0123456789abcdefABCDEF", c) != nullptr && c != '\0';
    if (!hex) {
      faults_.Add(*reader.Find("bytes_hex"), reader.Path("bytes_hex"),
                  absl::StrCat("two hex digits a byte, at most ", kMaxParamBytes, " bytes"),
                  "bytes cannot be read");
    } else {
      const std::string bytes = absl::HexStringToBytes(digits);
      arg.bytes.assign(bytes.begin(), bytes.end());
    }
    size_t index = 0;
    for (const JsonNode& node : reader.Array("pointers", false)) {
      ObjectReader slot(node, absl::StrCat(reader.Path("pointers"), "[", index++, "]"), faults_);
      const uint64_t offset = slot.Natural("offset", 0, kMaxParamBytes);
      if (hex && offset + kPointerBytes > arg.bytes.size()) {
        const JsonNode* written = slot.Find("offset");
        if (written != nullptr) {
          faults_.Add(*written, slot.Path("offset"), absl::StrCat("8 bytes within the ", arg.bytes.size()),
                      "a pointer lies outside its argument");
        }
      }
      AddReference(slot, static_cast<uint32_t>(offset), arg);
      slot.Finish();
    }
  }

  // The keys "ref" and "add" of `reader`: an address at `offset` of `arg`, the next argument to be added.
  void AddReference(ObjectReader& reader, uint32_t offset, Arg& arg) {
    const std::string name = reader.Text("ref");
    arg.pointers.push_back({offset, 0, reader.NaturalOr("add", 0, kMaxCount, 0)});
    if (name.empty()) return;
    references_.push_back(
        {spec_.args.size(), arg.pointers.size() - 1, reader.Find("ref"), reader.Path("ref")});
  }

  void Resolve(const OpenReference& open) {
    std::vector<std::string> names;
    for (uint32_t i = 0; i < spec_.buffers.size(); ++i) {
      names.push_back(spec_.buffers[i].name);
      if (names.back() != open.node->text) continue;
      PointerSlot& slot = spec_.args[open.arg].pointers[open.slot];
      slot.buffer = i;
      if (slot.add_bytes > spec_.buffers[i].size_bytes()) {
        faults_.Add(*open.node, open.path,
                    absl::StrCat("\"add\" of at most ", spec_.buffers[i].size_bytes(), " bytes"),
                    absl::StrCat("the address lies ", slot.add_bytes, " bytes in, past the buffer's end"));
      }
      return;
    }
    faults_.Add(*open.node, open.path,
                absl::StrCat("a buffer of this launch", NearestNames(open.node->text, names)),
                "there is no buffer of this name");
  }

  ObjectReader& launch_;
  FaultList& faults_;
  const std::optional<std::string>& folder_;
  LaunchSpec& spec_;
  std::vector<OpenReference> references_;
};

}  // namespace

std::string_view Name(Init init) {
  for (const auto& [name, known] : kInits) {
    if (known == init) return name;
  }
  return "?";
}

void ParseBuffersAndArgs(ObjectReader& launch, const std::optional<std::string>& folder, LaunchSpec& spec) {
  ArgParser(launch, folder, spec).Parse();
}

}  // namespace sm89::launch

#include "report/convert/packed_output.hpp"

namespace tracelens {

PackedOutput::PackedOutput(const std::string& path) : file_{path} {
  if (path.ends_with(".gz")) gzip_ = std::make_unique<io::GzipWriter>(file_);
}

PackedOutput::~PackedOutput() = default;

void PackedOutput::write(std::string_view text) {
  if (gzip_ != nullptr)
    gzip_->write(text);
  else
    file_.write(text);
}

void PackedOutput::commit() {
  if (gzip_ != nullptr) gzip_->finish();
  file_.commit();
}

}  // namespace tracelens

// The entries of a kubeconfig that a context leads to: one cluster, one user. For kubeconfig.cc.
#pragma once

#include <string>

#include "client/api_access.h"
#include "client/read_file.h"
#include "k8s/yaml_reader.h"

namespace knx::client {

struct EntryReading {
  std::string file;    // that the entry stands in, as it was named
  std::string folder;  // of that file; relative paths begin there
  FileReader read_file;
};

// `plugin_config`: the JSON that the entry holds for a credential plugin, if there is any.
void ReadCluster(k8s::FieldReader& fields, const EntryReading& reading, ApiAccess& out,
                 std::string& plugin_config);

// After the cluster, which says whether credentials may be sent.
void ReadUser(k8s::FieldReader& fields, const EntryReading& reading, std::string plugin_config,
              ApiAccess& out);

// A path of a file of a kubeconfig, in full.
std::string ResolvePath(const std::string& folder, const std::string& path);

}  // namespace knx::client

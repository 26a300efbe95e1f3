// A configuration as a document: everything it comes to, in kube-scheduler's own form, so that
// reading it gives the same again. The arguments of plugins are as they were given.
#pragma once

#include <string>

#include "cmd/document_writer.h"
#include "framework/config.h"

namespace knx::cmd {

// Whether keys of extenders are shown. Without them, what is written is no whole configuration.
enum class SecretsAre { kKept, kLeftOut };

void WriteConfiguration(const framework::SchedulerConfiguration& config, SecretsAre secrets,
                        DocumentWriter& out);
// With secrets.
std::string ConfigurationYaml(const framework::SchedulerConfiguration& config);

}  // namespace knx::cmd

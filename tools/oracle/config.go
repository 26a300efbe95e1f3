package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"sigs.k8s.io/yaml"
)

// configText undoes the string around a configuration, if there is one.
func configText(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	if raw[0] != '"' {
		return string(raw), nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", fmt.Errorf("config: %w", err)
	}
	return text, nil
}

// loadConfig reads a configuration as kube-scheduler's --config does; without text it is the
// default one.
func loadConfig(text string) (*config.KubeSchedulerConfiguration, error) {
	loaded, err := latest.Default()
	if err != nil {
		return nil, fmt.Errorf("the default configuration: %w", err)
	}
	if text != "" {
		object, _, err := scheme.Codecs.UniversalDecoder().Decode([]byte(text), nil, nil)
		if err != nil {
			return nil, fmt.Errorf("config: %w", err)
		}
		var ok bool
		if loaded, ok = object.(*config.KubeSchedulerConfiguration); !ok {
			return nil, fmt.Errorf("config: a %T is no KubeSchedulerConfiguration", object)
		}
	}
	if err := validation.ValidateKubeSchedulerConfiguration(loaded); err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	if len(loaded.Extenders) > 0 {
		return nil, errors.New("config: extenders cannot be asked here")
	}
	if err := withoutDynamicResources(loaded, text); err != nil {
		return nil, err
	}
	return loaded, nil
}

// withoutDynamicResources takes the plugin out of the profiles that have it only by default. The
// answers are there to be compared with a scheduler that may not have it; who wants it compared
// names it in the configuration.
func withoutDynamicResources(loaded *config.KubeSchedulerConfiguration, text string) error {
	var asked struct {
		Profiles []struct {
			Plugins map[string]struct {
				Enabled []struct {
					Name string `json:"name"`
				} `json:"enabled"`
			} `json:"plugins"`
		} `json:"profiles"`
	}
	if err := yaml.Unmarshal([]byte(text), &asked); err != nil {
		return fmt.Errorf("config: %w", err)
	}
	for i := range loaded.Profiles {
		named := false
		if i < len(asked.Profiles) {
			for _, set := range asked.Profiles[i].Plugins {
				for _, plugin := range set.Enabled {
					named = named || plugin.Name == names.DynamicResources
				}
			}
		}
		if !named {
			all := &loaded.Profiles[i].Plugins.MultiPoint
			all.Enabled = slices.DeleteFunc(all.Enabled, func(plugin config.Plugin) bool {
				return plugin.Name == names.DynamicResources
			})
		}
	}
	return nil
}

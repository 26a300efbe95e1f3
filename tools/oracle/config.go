package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
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
	return loaded, nil
}

package main

import (
	"encoding/json"
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"
)

// printJSON prints YAML files as JSON, one line each: Python's library cannot read YAML.
func printJSON(files []string) int {
	for _, file := range files {
		text, err := toJSON(file)
		if err != nil {
			fmt.Fprintf(os.Stderr, "knx-control-plane: %s: %v\n", file, err)
			return 1
		}
		fmt.Printf("%s\n", text)
	}
	return 0
}

func toJSON(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var content any
	if err := yaml.Unmarshal(text, &content); err != nil {
		return nil, err
	}
	return json.Marshal(content)
}

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/kustomize/kyaml/yaml/merge2"
	"sigs.k8s.io/kustomize/kyaml/yaml/merge3"
)

// A request is one line of JSON: a two-way merge (without Base) or a three-way merge.
type request struct {
	Ways     int    `json:"ways"`
	Base     string `json:"base"`
	Upstream string `json:"upstream"`
	Local    string `json:"local"`
}

// A response is one line of JSON: the merged text or an error.
type response struct {
	Text  string `json:"text"`
	Error string `json:"error,omitempty"`
}

// mergeAll responds to every request on standard input, for `cargo xtask differential`.
func mergeAll() error {
	lines := bufio.NewReader(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	responses := json.NewEncoder(out)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var input request
		if err := json.Unmarshal(line, &input); err != nil {
			return err
		}
		if err := responses.Encode(merge(input)); err != nil {
			return err
		}
	}
}

// merge turns a panic of kyaml into an error response.
func merge(input request) (result response) {
	defer func() {
		if reason := recover(); reason != nil {
			result = response{Error: fmt.Sprintf("panic: %v", reason)}
		}
	}()
	text, err := "", error(nil)
	if input.Ways == 2 {
		text, err = merge2.MergeStrings(input.Upstream, input.Local, true, yaml.MergeOptions{})
	} else {
		text, err = merge3.MergeStrings(input.Local, input.Base, input.Upstream, true)
	}
	if err != nil {
		return response{Error: err.Error()}
	}
	return response{Text: text}
}

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

// A question is one line of JSON: a merge of two texts (Base is empty) or of three.
type question struct {
	Ways     int    `json:"ways"`
	Base     string `json:"base"`
	Upstream string `json:"upstream"`
	Local    string `json:"local"`
}

// An answer is one line of JSON: the merged text, or why there is none.
type answer struct {
	Text  string `json:"text"`
	Error string `json:"error,omitempty"`
}

// answerAll merges what it reads from standard input, line by line, for `cargo xtask differential`.
func answerAll() error {
	lines := bufio.NewReader(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	answers := json.NewEncoder(out)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var asked question
		if err := json.Unmarshal(line, &asked); err != nil {
			return err
		}
		if err := answers.Encode(merge(asked)); err != nil {
			return err
		}
	}
}

// merge survives a panic, which is an answer, too.
func merge(asked question) (result answer) {
	defer func() {
		if reason := recover(); reason != nil {
			result = answer{Error: fmt.Sprintf("panic: %v", reason)}
		}
	}()
	text, err := "", error(nil)
	if asked.Ways == 2 {
		text, err = merge2.MergeStrings(asked.Upstream, asked.Local, true, yaml.MergeOptions{})
	} else {
		text, err = merge3.MergeStrings(asked.Local, asked.Base, asked.Upstream, true)
	}
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Text: text}
}

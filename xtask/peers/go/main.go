// Command gopeer measures Go's YAML parsers for `cargo xtask bench`, merges with kyaml for `cargo xtask differential`, provides
// functions for `cargo xtask real-functions`, and reads texts as Kubernetes does for the tests that compare krm with that reader.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/kyaml/kio"
)

// A decoder reads every document of a text and returns their number.
type decoder func(text []byte) (int, error)

var decoders = map[string]decoder{
	"decode-goyaml": decodeNodes,
	"decode-kyaml":  decodeRNodes,
}

// function is the subcommand to run without arguments; set at link time for `cargo xtask real-functions`.
var function string

func main() {
	commands := functions
	commands["merge"] = mergeAll
	commands["read"] = readAll
	if len(os.Args) == 1 && function != "" {
		os.Args = append(os.Args, function)
	}
	if len(os.Args) == 2 && commands[os.Args[1]] != nil {
		if err := commands[os.Args[1]](); err != nil {
			fmt.Fprintln(os.Stderr, "gopeer:", err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) != 3 || decoders[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: gopeer decode-goyaml|decode-kyaml FILE, or gopeer merge|read|fn-kyaml|fn-sigs|fn-goyaml")
		os.Exit(2)
	}
	if err := report(decoders[os.Args[1]], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "gopeer:", err)
		os.Exit(1)
	}
}

// report reads the file before it starts the clock, so that the time does not include the disk.
func report(decode decoder, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	start := time.Now()
	documents, err := decode(text)
	seconds := time.Since(start).Seconds()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	fmt.Printf("{\"seconds\":%.6f,\"documents\":%d,\"bytes\":%d}\n", seconds, documents, len(text))
	return nil
}

// decodeNodes keeps every document in memory, as an editing tool has to.
func decodeNodes(text []byte) (int, error) {
	reader := yaml.NewDecoder(bytes.NewReader(text))
	var documents []*yaml.Node
	for {
		node := new(yaml.Node)
		err := reader.Decode(node)
		if errors.Is(err, io.EOF) {
			return len(documents), nil
		}
		if err != nil {
			return 0, err
		}
		documents = append(documents, node)
	}
}

// decodeRNodes parses as kustomize and kpt do.
func decodeRNodes(text []byte) (int, error) {
	reader := kio.ByteReader{Reader: bytes.NewReader(text)}
	documents, err := reader.Read()
	return len(documents), err
}

// Command gopeer times how fast Go's YAML readers take in a file, for the `parse` rows of `cargo xtask bench`, merges
// with kyaml for `cargo xtask differential`, and is a function for `cargo xtask real-functions`.
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

// A decoder reads every document of a text and says how many there were.
type decoder func(text []byte) (int, error)

var decoders = map[string]decoder{
	"decode-goyaml": decodeNodes,
	"decode-kyaml":  decodeRNodes,
}

// word is what the program does without arguments: a function that is built for one thing only.
var word string

func main() {
	words := functions
	words["merge"] = answerAll
	if len(os.Args) == 1 && word != "" {
		os.Args = append(os.Args, word)
	}
	if len(os.Args) == 2 && words[os.Args[1]] != nil {
		if err := words[os.Args[1]](); err != nil {
			fmt.Fprintln(os.Stderr, "gopeer:", err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) != 3 || decoders[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: gopeer decode-goyaml|decode-kyaml FILE, or gopeer merge|fn-kyaml|fn-sigs|fn-goyaml")
		os.Exit(2)
	}
	if err := report(decoders[os.Args[1]], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "gopeer:", err)
		os.Exit(1)
	}
}

// report keeps the disk out of the measured time: the file is in memory before the clock starts.
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

// decodeNodes keeps every document, as a tool that is going to edit one has to.
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

// decodeRNodes takes the road that kustomize and kpt take from bytes to resources.
func decodeRNodes(text []byte) (int, error) {
	reader := kio.ByteReader{Reader: bytes.NewReader(text)}
	documents, err := reader.Read()
	return len(documents), err
}

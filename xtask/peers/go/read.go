package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	kubernetes "k8s.io/apimachinery/pkg/util/yaml"
)

// lookahead is the number of bytes in which kubectl looks for the start of JSON.
const lookahead = 4096

// readAll answers every text on stdin with what Kubernetes reads from it: a line of JSON for each document up to the first error,
// and that error on a line that starts with "error: ". The length of each message precedes it in four bytes, big-endian.
// The output is flushed when no further text is waiting, so that texts can be sent one by one or all at once.
func readAll() error {
	in, out := bufio.NewReaderSize(os.Stdin, 1<<16), bufio.NewWriterSize(os.Stdout, 1<<16)
	for {
		text, err := receive(in)
		if errors.Is(err, io.EOF) {
			return out.Flush()
		}
		if err != nil {
			return err
		}
		if err := send(out, readText(text)); err != nil {
			return err
		}
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
}

func receive(in io.Reader) ([]byte, error) {
	var length uint32
	if err := binary.Read(in, binary.BigEndian, &length); err != nil {
		return nil, err
	}
	text := make([]byte, length)
	_, err := io.ReadFull(in, text)
	return text, err
}

func send(out io.Writer, message []byte) error {
	if err := binary.Write(out, binary.BigEndian, uint32(len(message))); err != nil {
		return err
	}
	_, err := out.Write(message)
	return err
}

// readText splits and reads a text as kubectl does. A panic of the reader is an error.
func readText(text []byte) (lines []byte) {
	defer func() {
		if reason := recover(); reason != nil {
			lines = appendError(lines, fmt.Errorf("panic: %v", reason))
		}
	}()
	decoder := kubernetes.NewYAMLOrJSONDecoder(bytes.NewReader(text), lookahead)
	for {
		// Compat: like the RawExtension of kubectl, it takes the JSON as it is.
		var document json.RawMessage
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return lines
		}
		if err != nil {
			return appendError(lines, errors.Join(err, yamlError(text)))
		}
		line, err := json.Marshal(document)
		if err != nil {
			return appendError(lines, err)
		}
		lines = append(append(lines, line...), '\n')
	}
}

// yamlError is why a text cannot be read as YAML. For a text that starts like JSON, kubectl reports only why it is not JSON.
func yamlError(text []byte) error {
	decoder := kubernetes.NewYAMLToJSONDecoder(bytes.NewReader(text))
	for {
		var document json.RawMessage
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func appendError(lines []byte, err error) []byte {
	return append(append(lines, "error: "...), strings.ReplaceAll(err.Error(), "\n", " ")+"\n"...)
}

// Command starlark-oracle evaluates Starlark scripts with the interpreter and the libraries of the kpt function. Scripts on standard
// input and answers on standard output end with a zero byte. An answer is the printed text, and after it an error, if there is one.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/qri-io/starlib"
	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
)

// The libraries whose values every script sees, without `load`.
var libraries = []string{
	"encoding/base64.star", "encoding/csv.star", "encoding/json.star", "encoding/yaml.star",
	"hash.star", "math.star", "re.star", "time.star",
}

// An endless script must not hang the tests.
const maxSteps = 10_000_000

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "starlark-oracle:", err)
		os.Exit(1)
	}
}

func run() error {
	resolve.AllowSet = true
	resolve.AllowGlobalReassign = true
	resolve.AllowRecursion = true
	values := starlark.StringDict{}
	for _, library := range libraries {
		loaded, err := starlib.Loader(&starlark.Thread{}, library)
		if err != nil {
			return fmt.Errorf("%s: %w", library, err)
		}
		for name, value := range loaded {
			values[name] = value
		}
	}
	input := bufio.NewReader(os.Stdin)
	for {
		script, err := input.ReadString(0)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		fmt.Printf("%s\x00", answer(strings.TrimSuffix(script, "\x00"), values))
	}
}

func answer(script string, values starlark.StringDict) (text string) {
	var lines []string
	defer func() {
		if failure := recover(); failure != nil {
			text = fmt.Sprintf("error: panic: %v", failure)
		}
	}()
	thread := &starlark.Thread{Print: func(_ *starlark.Thread, line string) { lines = append(lines, line) }}
	thread.SetMaxExecutionSteps(maxSteps)
	if _, err := starlark.ExecFile(thread, "script.star", script, values); err != nil {
		lines = append(lines, "error: "+strings.ReplaceAll(err.Error(), "\n", " "))
	}
	return strings.Join(lines, "\n")
}

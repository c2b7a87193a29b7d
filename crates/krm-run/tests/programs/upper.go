// A function in Go: it writes its input in capitals, and its arguments to standard error.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"time"
)

func main() {
	time.Sleep(time.Millisecond)
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	if _, err := os.Open("/etc/passwd"); err != nil {
		fmt.Fprintln(os.Stderr, "no files here")
	}
	fmt.Fprintln(os.Stderr, os.Args[1:], os.Getenv("GREETING"))
	os.Stdout.Write(bytes.ToUpper(text))
}

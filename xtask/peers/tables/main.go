// Command tables prints the test tables of Go packages as JSON, one case per line, for `cargo xtask differential --tables`.
//
// It only parses: nothing of the module is compiled, so tables of any version can be read with the standard library.
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
)

// A testCase is an element of a table: a composite literal whose fields are strings, booleans or lists of strings.
type testCase struct {
	File   string         `json:"file"`
	Table  string         `json:"table"`
	Fields map[string]any `json:"fields"`
}

func main() {
	out := json.NewEncoder(os.Stdout)
	for _, path := range testFiles(os.Args[1:]) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			fmt.Fprintln(os.Stderr, "tables:", err)
			os.Exit(1)
		}
		for _, declaration := range file.Decls {
			for _, fields := range cases(declaration) {
				err := out.Encode(testCase{filepath.Base(path), name(declaration), fields})
				if err != nil {
					os.Exit(1)
				}
			}
		}
	}
}

// testFiles are the tests in the directories; `go run` would take the names of files as sources.
func testFiles(directories []string) (found []string) {
	for _, directory := range directories {
		files, _ := filepath.Glob(filepath.Join(directory, "*_test.go"))
		found = append(found, files...)
	}
	return found
}

// name is that of the function or variable which contains a table.
func name(declaration ast.Decl) string {
	if function, ok := declaration.(*ast.FuncDecl); ok {
		return function.Name.Name
	}
	if general, ok := declaration.(*ast.GenDecl); ok && len(general.Specs) > 0 {
		if variable, ok := general.Specs[0].(*ast.ValueSpec); ok {
			return variable.Names[0].Name
		}
	}
	return ""
}

// cases are the elements without a type of their own in slice literals: `[]testCase{{description: …}, …}`.
func cases(declaration ast.Decl) (found []map[string]any) {
	ast.Inspect(declaration, func(node ast.Node) bool {
		list, ok := node.(*ast.CompositeLit)
		if !ok {
			return true
		}
		if _, ok := list.Type.(*ast.ArrayType); !ok {
			return true
		}
		for _, element := range list.Elts {
			if item, ok := element.(*ast.CompositeLit); ok && item.Type == nil {
				if fields := fields(item); len(fields) > 0 {
					found = append(found, fields)
				}
			}
		}
		return true
	})
	return found
}

func fields(item *ast.CompositeLit) map[string]any {
	found := map[string]any{}
	for _, element := range item.Elts {
		if entry, ok := element.(*ast.KeyValueExpr); ok {
			if key, ok := entry.Key.(*ast.Ident); ok {
				found[key.Name] = value(entry.Value)
			}
		}
	}
	return found
}

// value evaluates what tables use: literals, concatenations, lists, structures, and names as strings.
func value(expression ast.Expr) any {
	switch it := expression.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(it.Value); err == nil {
			return text
		}
		return it.Value
	case *ast.BinaryExpr:
		return fmt.Sprint(value(it.X), value(it.Y))
	case *ast.Ident:
		if it.Name == "true" || it.Name == "false" {
			return it.Name == "true"
		}
		return it.Name
	case *ast.SelectorExpr:
		return it.Sel.Name
	case *ast.CallExpr:
		if len(it.Args) > 0 {
			return value(it.Args[0])
		}
	case *ast.CompositeLit:
		if _, ok := it.Type.(*ast.ArrayType); !ok {
			return fields(it)
		}
		list := []any{}
		for _, element := range it.Elts {
			list = append(list, value(element))
		}
		return list
	}
	return nil
}
